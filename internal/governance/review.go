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

// compare orders reviews by time and number, whatever their order in a list. Of two of one time and number, the one
// that clears less comes last.
func (r Review) compare(o Review) int {
	states := []string{"APPROVED", "DISMISSED", "CHANGES_REQUESTED"}
	return cmp.Or(r.Submitted.Compare(*o.Submitted), cmp.Compare(r.ID, o.ID),
		cmp.Compare(slices.Index(states, r.state()), slices.Index(states, o.state())),
		strings.Compare(strings.ToLower(r.User.Login), strings.ToLower(o.User.Login)),
		strings.Compare(o.Commit, r.Commit), strings.Compare(o.Body, r.Body),
		strings.Compare(o.Association, r.Association), strings.Compare(o.User.Type, r.User.Type))
}

// latest returns the review of each user that counts: the last one that approves, asks for changes or was dismissed.
func latest(all []Review) []Review {
	all = slices.DeleteFunc(slices.Clone(all), func(r Review) bool {
		return r.Submitted == nil || !slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}, r.state())
	})
	slices.SortFunc(all, Review.compare)
	last := map[string]int{}
	for i, r := range all {
		last[strings.ToLower(r.User.Login)] = i
	}
	var out []Review
	for i, r := range all {
		if last[strings.ToLower(r.User.Login)] == i {
			out = append(out, r)
		}
	}
	return out
}
