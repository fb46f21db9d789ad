package governance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Review is a review as the forge lists it.
type Review struct {
	ID   int64 `json:"id"`
	User struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"` // empty where the account is gone
	State       string     `json:"state"`
	Body        string     `json:"body"`
	Commit      string     `json:"commit_id"`
	Submitted   *time.Time `json:"submitted_at"` // nil while it is pending
	Association string     `json:"author_association"`
}

func (r Review) state() string { return strings.ToUpper(r.State) }

func (r Review) bot() bool { return r.User.Type == "Bot" || strings.HasSuffix(r.User.Login, "[bot]") }

// MaxReviews is how many bytes a list of reviews may have.
const MaxReviews = 16 << 20

// ParseReviews reads the forge's list of reviews: one JSON array.
func ParseReviews(name string, data []byte) ([]Review, error) {
	doc, err := strict.Parse(name, data, strict.Remote(MaxReviews))
	if err != nil {
		return nil, err
	}
	if _, ok := doc.Root.([]any); !ok {
		return nil, fmt.Errorf("%s: expected an array of reviews, as GET /repos/OWNER/NAME/pulls/N/reviews answers",
			name)
	}
	var out []Review
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// latest returns the review of each user that counts: the last one that approves, asks for changes or was dismissed.
func latest(all []Review) []Review {
	all = slices.DeleteFunc(slices.Clone(all), func(r Review) bool {
		return r.Submitted == nil || !slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}, r.state())
	})
	slices.SortStableFunc(all, func(a, b Review) int {
		return cmp.Or(a.Submitted.Compare(*b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	slices.Reverse(all)
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(r Review) bool {
		login := strings.ToLower(r.User.Login)
		was := seen[login]
		seen[login] = true
		return was
	})
	slices.Reverse(all)
	return all
}
