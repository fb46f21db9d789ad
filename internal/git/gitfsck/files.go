package gitfsck

import (
	"bytes"
	"strings"
)

// Limits on the files that git reads. MaxFile is git's for .gitattributes; a .gitmodules may have 512 MiB there.
const (
	MaxFile = 100 << 20
	maxLine = 2047
)

// Attributes returns the first fault of the content of a .gitattributes, nil if git accepts it.
func Attributes(text []byte) *Fault {
	if len(text) > MaxFile {
		return Large("gitattributes")
	}
	text, _, _ = bytes.Cut(text, []byte{0}) // git reads no further
	for number := 1; len(text) > 0; number++ {
		var one []byte
		one, text = line(text)
		if len(one) > maxLine {
			return fault("gitattributesLineLength", "line %d has %d bytes; expected at most %d", number, len(one),
				maxLine)
		}
	}
	return nil
}

// Large returns the fault of a file of more than MaxFile bytes; name is gitmodules or gitattributes.
func Large(name string) *Fault {
	return fault(name+"Large", "the file has more than %d MiB", MaxFile>>20)
}

// Modules returns the first fault of the content of a .gitmodules, nil if git accepts it. Git reads the file up to the
// first line that it cannot read; what follows does not count.
func Modules(text []byte) *Fault {
	if len(text) > MaxFile {
		return Large("gitmodules")
	}
	// Where a char is signed, git takes the byte 0xff for the end, and a byte order mark for an unreadable line.
	for _, signed := range []bool{true, false} {
		var found *Fault
		read := text
		if signed {
			read, _, _ = bytes.Cut(text, []byte{0xff})
		} else {
			read = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		ReadConfig(read, func(variable string, value []byte, set bool) bool {
			found = setting(variable, value, set)
			return found == nil
		})
		if found != nil {
			return found
		}
	}
	return nil
}

// setting judges one variable: section, subsection and key with dots between them.
func setting(variable string, value []byte, set bool) *Fault {
	rest, found := strings.CutPrefix(variable, "submodule.")
	dot := strings.LastIndexByte(rest, '.')
	if !found || dot < 0 {
		return nil
	}
	name, key := rest[:dot], rest[dot+1:]
	value, _, _ = bytes.Cut(value, []byte{0})
	option := bytes.HasPrefix(value, []byte("-"))
	switch {
	case badName(name):
		return fault("gitmodulesName", "the submodule name %s is empty or has a part ..", shown([]byte(name)))
	case !set:
		return nil
	case key == "url" && (option || badURL(value)):
		return fault("gitmodulesUrl", "the submodule url %s is not allowed", shown(value))
	case key == "path" && option:
		return fault("gitmodulesPath", "the submodule path %s looks like an option", shown(value))
	case key == "update" && bytes.HasPrefix(value, []byte("!")):
		return fault("gitmodulesUpdate", "the submodule setting update %s is a command", shown(value))
	}
	return nil
}

// badName reports whether a submodule's name is empty or leads out of .git/modules on some system.
func badName(name string) bool {
	for part := range strings.FieldsFuncSeq(name, isSeparator) {
		if part == ".." {
			return true
		}
	}
	return name == ""
}

func isSeparator(c rune) bool { return c == '/' || c == '\\' }
