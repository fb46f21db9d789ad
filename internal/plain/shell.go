package plain

import (
	"strings"
)

var shellWord = Pattern(`^[A-Za-z0-9._/][A-Za-z0-9._/-]*$`)

// ShellWord is a text as one word of a shell's command. The result may hold control characters.
func ShellWord(text string) string {
	if shellWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
