package doctor

import "io/fs"

// Other is a workflow that runs on pull requests and does not use the gate.
type Other struct {
	Path     string
	Contexts []string // under which its jobs report
}

// Others are those of a clone's work tree that can be read, in the order of their paths. The error means that the
// folder cannot be read.
func Others(tree fs.FS) ([]Other, error) {
	v := &inspection{tree: tree}
	if err := v.readWorkflows(); err != nil {
		return nil, err
	}
	var out []Other
	for _, w := range v.workflows {
		if w.uses() || !w.runsOn("pull_request", "pull_request_target") {
			continue
		}
		o := Other{Path: w.path}
		for _, j := range w.jobs {
			o.Contexts = append(o.Contexts, j.context())
		}
		out = append(out, o)
	}
	return out, nil
}
