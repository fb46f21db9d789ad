package report

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var resultVerdicts = []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Inconclusive, verdict.Warned,
	verdict.Skipped}

// checkRow is one check with its results counted, in the order of resultVerdicts.
type checkRow struct {
	ID, Title string
	Counts    []checkCount
}

type checkCount struct {
	Verdict verdict.Verdict
	Count   int
}

func checkRows(left *budget, r *Counted, rules []verdict.Rule) []checkRow {
	known := byID(rules)
	var rows []checkRow
	for _, id := range r.decidedColumns(rules) {
		row := checkRow{ID: id, Title: known[id].Title}
		for _, v := range resultVerdicts {
			row.Counts = append(row.Counts, checkCount{v, r.verdicts[id][v]})
		}
		if !left.take(300, id, row.Title) {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// matrix is a line for each subject with a column for each check.
type matrix struct {
	Columns      []string
	Chunks       []chunk[matrixRow]
	Quiet, Rest  int // subjects left out: nothing to see, and no room
	ColumnsShort bool
}

type matrixRow struct {
	Subject string
	Cells   []verdict.Verdict
}

// titled is a result with what its check holds.
type titled struct {
	verdict.Result
	Title string
}

// results are shown with their reasons where the subjects are few, else as a matrix. Where they are many, the
// matrix leaves out those that passed all that was asked of them.
func results(r *Counted, rules []verdict.Rule) ([][]titled, *matrix) {
	left := resultsRoom
	if isEach(r.Report) {
		return nil, nil
	}
	if r.subjects.count <= maxLists {
		var lists [][]titled
		known := byID(rules)
		for group := range bySubject(r.Report) {
			if rows := titledResults(&left, group, known); rows != nil {
				lists = append(lists, rows)
			}
		}
		return lists, nil
	}
	m := &matrix{Columns: r.decidedColumns(rules)}
	if len(m.Columns) > maxColumns {
		m.Columns, m.ColumnsShort = m.Columns[:maxColumns], true
	}
	heads := slices.Clone(m.Columns)
	for i := range heads {
		heads[i] = cut(line(heads[i]), 40) // each part repeats them
	}
	var rows []matrixRow
	for group := range bySubject(r.Report) {
		if !slices.ContainsFunc(group, func(r verdict.Result) bool { return !isManual(r) }) {
			continue
		}
		if r.subjects.count > maxRows && !slices.ContainsFunc(group, loud) {
			m.Quiet++
			continue
		}
		row := matrixRow{group[0].Subject, make([]verdict.Verdict, len(m.Columns))}
		for _, result := range group {
			if i := slices.Index(m.Columns, result.Check); i >= 0 {
				row.Cells[i] = result.Verdict
			}
		}
		if !left.take(60+70*len(row.Cells), row.Subject) {
			m.Rest++
			continue
		}
		rows = append(rows, row)
	}
	shown := 0
	m.Chunks, m.Columns = chunks(rows, &shown), heads
	return nil, m
}

// titledResults returns those of a subject's results for which there is room.
func titledResults(left *budget, results []verdict.Result, rules map[string]verdict.Rule) (rows []titled) {
	for _, result := range results {
		title := rules[result.Check].Title
		if left.take(200, result.Check, title, result.Subject, result.Reason) {
			rows = append(rows, titled{result, title})
		}
	}
	return rows
}

// maxColumns is how many checks the matrix shows; the catalogue has fewer.
const maxColumns = 32

func loud(r verdict.Result) bool { return isDecided(r) && r.Verdict != verdict.Passed }

// evidenceGroup is the documents that were obtained, or those that were not.
type evidenceGroup struct {
	Title  string
	Count  int
	Chunks []chunk[verdict.Evidence]
}

// documents shows what was not obtained first, so that it has room; the second result counts what has none.
func documents(r *verdict.Report) ([]evidenceGroup, int) {
	missing, got := []verdict.Evidence{}, []verdict.Evidence{}
	for _, e := range r.Evidence {
		if e.State == "obtained" {
			got = append(got, e)
		} else {
			missing = append(missing, e)
		}
	}
	var groups []evidenceGroup
	left, more, shown := evidenceRoom, 0, 0
	add := func(title string, rows []verdict.Evidence) {
		count := len(rows)
		for i, e := range rows {
			if !left.take(280, e.URL, e.URL, e.FinalURL, e.FinalURL, e.SHA256, e.Address, e.State, e.Code, e.Message) {
				rows = rows[:i]
				break
			}
		}
		more += count - len(rows)
		if count > 0 {
			groups = append(groups, evidenceGroup{title, count, chunks(rows, &shown)})
		}
	}
	add("Not obtained", missing)
	add("Obtained", got)
	return groups, more
}
