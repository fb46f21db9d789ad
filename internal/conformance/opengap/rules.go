package opengap

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The clauses that the rules cite.
const (
	required    = "OpenGAP 0.4, agent compliance, required"
	recommended = "OpenGAP 0.4, agent compliance, required (headed recommended in the published page)"
	first       = "OpenGAP 0.1, what its command validate requires"
)

// Rules is the whole catalogue, in the order of a report: the agent's of dialect 0.4, those of a runtime, and the
// agent's of dialect 0.1.
var Rules = slices.Concat(rules04, []verdict.Rule{computed}, runtime, rules01)

// catalogue are the rules as the runner takes them. A rule is judged on each file that it is about, as the look at the
// directory comes by it: judgments that look for themselves would be longer.
var catalogue = conformance.Catalogue(Rules)

var unreadable = strict.Code{ID: "manifest-unreadable",
	Meaning: "agent.yaml is not YAML with one meaning: it has a key twice, an anchor, a tag, a syntax error, more " +
		"than 1 MiB, or is not a plain file",
	Fix: "correct agent.yaml at the place shown"}

var noManifest = strict.Code{ID: "no-manifest", Meaning: "the directory has no agent.yaml",
	Fix: "add agent.yaml, under that name, or name the directory that has it"}

var rules04 = []verdict.Rule{
	{ID: "gap-manifest", Title: "the directory has an agent.yaml with one meaning", Cite: required, Role: "agent",
		Why: "everything else of an agent is declared in it; two readers of a key that appears twice take " +
			"different ones",
		Fix:   "add agent.yaml, each key once, without anchors and tags",
		Codes: []strict.Code{noManifest, unreadable}},
	{ID: "gap-version", Title: "the field opengap is text of the form MAJOR.MINOR", Cite: required, Role: "agent",
		Why: "a runtime refuses what it does not support by that text; YAML reads 0.10 without quotes as the " +
			"number 0.1",
		Fix: `write opengap: "0.4", with the quotes`,
		Codes: []strict.Code{
			{"missing-field", "agent.yaml has no opengap, or leaves it empty", `add opengap: "0.4"`},
			{"version-not-text", "YAML reads opengap as a number, or as another value that is not text",
				"put it into quotes"},
			{"version-form", "opengap is not two numbers with a dot between them", `write opengap: "0.4"`},
			{"version-unknown", "opengap is not 0.1, 0.2, 0.3 or 0.4",
				`write opengap: "0.4", or see that a runtime supports it`},
		}},
	{ID: "gap-fields", Title: "name, version, model.provider and model.name are text", Cite: required, Role: "agent",
		Why: "a runtime cannot name the agent or choose its model without them",
		Fix: "write each of them in agent.yaml",
		Codes: []strict.Code{
			{"missing-field", "a required field is missing, is empty, or is not a text",
				"write it in agent.yaml, as text"},
			{"wrong-type", "a path is not a text, or a limit is not a number in its range",
				"write the value that the message names; a text with ${NAME} may replace it"},
			{"version-not-semver", "version is not a Semantic Version 2.0.0",
				"write MAJOR.MINOR.PATCH, such as 1.0.0"},
		}},
	{ID: "gap-skills", Title: "each skill exports a skill-decorated function", Cite: required, Role: "agent",
		Why: "a runtime finds the skills of a file only by that decorator",
		Fix: "import skill from gitagent and put @skill before a function of the module itself",
		Codes: []strict.Code{
			{"no-skill", "the module exports no function under the decorator skill of gitagent or opengap: none is " +
				"at column 0, its name is deleted or rebound there, or its decorator is another",
				"write from gitagent import skill, and @skill before a def at column 0"},
			{"decorator-unknown", "the decorator is the skill of a package that requirements*.txt or pyproject.toml " +
				"declares; whether it is that of gitagent was not seen",
				"import skill from gitagent, or see that the package exports it"},
			{"not-python", "Python does not compile the file",
				"rewrite the statement at the place shown; python3 -m py_compile names it too"},
			{"not-read", "Python ended before or within the file, by its limits of 1 GiB, 20 s and depth; nothing " +
				"was decided",
				"write the file more simply, or look for the decorator by hand"},
			{"python-older", "this Python is older than pyproject.toml requires, and does not compile the file; " +
				"nothing was decided", "name a later one with --python FILE"},
			{"no-python", "there is no Python 3.8 or later outside of the agent's directory; nothing was decided",
				"install python3, or name one with --python FILE"},
			{"without-skills", "there is no skill at all, so that nothing was judged",
				"add a .py file to the directory of skills"},
			{"path-not-known", "the directory of skills is named by a variable without a default; nothing was decided",
				"write the directory itself, or ${NAME:-skills/}"},
		}},
	{ID: "gap-outside", Title: "nothing outside of the directory is needed", Cite: required, Role: "agent",
		Why: "an agent is its directory: a user who clones it has nothing else",
		Fix: "keep what the agent needs in its directory, and name it by a relative path",
		Codes: []strict.Code{
			{"path-outside", "a path of agent.yaml, or a symbolic link, leads out of the directory",
				"name a path within the directory, without .. and without a leading slash"},
			{"path-in-code", "a skill uses a path that leaves the agent's directory",
				"name it from the skill's own __file__, and keep it in the directory"},
			{"import-undeclared", "a skill imports a module that is neither Python's nor the agent's, and nothing " +
				"declares it",
				"add the package to requirements.txt, with a comment if it has another name than the module"},
		}},
	{ID: "gap-environment", Title: "each environment variable that is referenced is documented", Cite: required,
		Role: "agent",
		Why:  "the operator of the agent has to know what to set",
		Fix:  "name the variable in the README of the directory, or in a comment of agent.yaml",
		Codes: []strict.Code{
			{"undocumented-variable", "a variable is neither in a README of the directory nor in a comment of " +
				"agent.yaml",
				"name it there, as a word of its own"},
			{"computed-name", "a skill reads a variable whose name is computed, so that nobody can see which",
				"write the name as a text, or see by hand that it is documented"},
		}},
	{ID: "gap-tests", Title: "each skill is named in a test", Cite: recommended, Role: "agent",
		Why: "a skill that no test names is not tested",
		Fix: "import the skill in a file tests/test_*.py",
		Codes: []strict.Code{{"no-test",
			"no file tests/**/test_*.py or tests/**/*_test.py that has a def test… or a class Test… names the module " +
				"or one of its skills",
			"add a test that imports the skill"}}},
	{ID: "gap-description", Title: "the agent and each of its skills has a description", Cite: recommended,
		Role: "agent",
		Why:  "a model decides by the description when to use a skill",
		Fix:  "write description in agent.yaml, and description= or a docstring for each skill",
		Codes: []strict.Code{
			{"missing-field", "agent.yaml has no description, or it is empty or no text",
				"write description in agent.yaml"},
			{"no-description", "a skill has an empty description, or neither a description nor a docstring",
				"say in description= what the skill does and when to use it"},
			{"computed-description", "the description of a skill is computed, so that nobody can see whether it " +
				"is empty",
				"write it as a text, or see by hand that it is not empty"},
		}},
	{ID: "gap-gitignore", Title: ".gitignore excludes .env, *.pyc and __pycache__", Cite: recommended, Role: "agent",
		Why: "a committed .env publishes the secrets that it holds",
		Fix: "write .env, *.pyc and __pycache__/ into .gitignore",
		Codes: []strict.Code{{"not-ignored",
			"the .gitignore of the directory does not exclude a file that must never be committed",
			"add the pattern to .gitignore, after any line with ! that takes it back"}}},
}

// computed is a requirement that no reader of the source can decide.
var computed = verdict.Rule{ID: "gap-computed-paths", Title: "paths that a skill computes stay in the directory",
	Cite: required, Role: "agent", Method: verdict.Attested,
	Why: "only a run shows what a computed path is", Fix: "read how the skills compute their paths, and sign the " +
		"checklist"}

// live returns a requirement on the runtime, which only a run shows. Codes are those of its errors.
func live(id, section, title string, codes ...strict.Code) verdict.Rule {
	return verdict.Rule{ID: "gap-runtime-" + id, Title: title, Cite: "OpenGAP 0.4, runtime compliance, " + section,
		Role: "runtime", Method: verdict.Live,
		Why: "the agent's files declare what they expect of a runtime; only a run shows what it does",
		Fix: "correct the runtime, or say with --operator how it is used", Codes: append(codes, tried...)}
}

// tried are the codes of a row that was not decided.
var tried = []strict.Code{
	{"no-model-request", "the runtime asked no model on the plain agent; nothing was decided",
		"say with --operator how the runtime is started, and how it finds the model"},
	{"plain-run", "the runtime failed on the plain agent; nothing was decided",
		"say with --operator how the runtime is used, and run its command by hand"},
	{"other-shape", "no request offers a skill as a tool of its own, and one names it; nothing was decided",
		"have people try the row"},
	{"not-offered", "no request offers the skill that the row calls; nothing was decided",
		"make the runtime offer the skills of the agent to the model, and run the row again"},
	{"budget-spent", "the time of --budget had passed before the row was decided", "give a longer --budget"},
}

// code returns a code of a runtime's row.
func code(id, meaning string) strict.Code {
	return strict.Code{ID: id, Meaning: meaning, Fix: "correct the runtime: the message says what was seen"}
}

var (
	notDiscovered = code("not-discovered", "what the agent has in the directory was not found, or something else was")
	noTrace       = code("no-trace", "a skill was called, and what its code writes down did not arrive")
	formUnknown   = code("form-unknown", "no hook or flow was run, and the operator's file gives no form")
	unclearError  = code("unclear-error", "the runtime refuses, and its output does not name the cause")
	stoppedEarly  = code("stopped-early", "the run ended before the limit of the agent")
)

var runtime = []verdict.Rule{
	live("manifest", "discovery", "the runtime starts from the agent.yaml of the agent's directory",
		code("manifest-ignored", "the runtime asks for another model than agent.yaml names")),
	live("refusal", "discovery", "the runtime says clearly that it refuses an opengap version it does not support",
		code("version-accepted", "the runtime exits with 0 on an agent of version 9.9"), unclearError),
	live("skills", "discovery", "the runtime finds skills in the directory of skills.path, skills/ by default",
		notDiscovered),
	live("packages", "discovery", "the runtime loads skills from .py files and from Python packages", notDiscovered),
	live("hooks", "discovery", "the runtime finds hooks in the directory of hooks.path, hooks/ by default",
		notDiscovered, formUnknown, noTrace),
	live("flows", "discovery", "the runtime finds flows in the directory of flows.path, flows/ by default",
		notDiscovered, formUnknown, noTrace),
	live("inputs", "skill contract", "the inputs of a skill are keyword arguments that fit its signature",
		code("other-arguments", "the skill got other arguments than the model gave")),
	live("output", "skill contract", "what a skill gives comes back as a value that JSON can hold",
		code("other-result", "the model got another value than the skill returned")),
	live("skill-error", "skill contract", "the model sees a SkillError as the error of a tool, and no exception "+
		"ends the run",
		code("error-not-told", "the model did not get the text of a SkillError, or the run ended")),
	live("input-schema", "skill contract", "an input_schema of the decorator is enforced",
		code("schema-ignored", "a call that breaks the schema was run"),
		code("not-run", "a call has no result, or a right call was not run")),
	live("iterations", "execution", "the loop ends after execution.max_iterations",
		code("iterations-ignored", "the model was asked in more iterations"), stoppedEarly),
	live("timeout", "execution", "the run ends after execution.timeout seconds",
		code("timeout-ignored", "the run did not end at the timeout"), stoppedEarly),
	live("history", "execution", "with memory.enabled the last memory.max_history turns are in the context",
		code("history", "the context has other turns than the last memory.max_history")),
	live("interpolation", "environment variable interpolation",
		"${NAME} and ${NAME:-default} of agent.yaml are resolved",
		code("not-resolved", "the runtime used another value than that of the variable or its default")),
	live("unset", "environment variable interpolation", "an unset variable without a default is a clear error",
		code("unset-accepted", "the run did not end"), unclearError),
	live("validate", "validation command", "the runtime has a command that checks an agent and says what is wrong",
		code("validate-refuses", "the command refuses a good agent"),
		code("validate-accepts", "the command accepts a bad agent"), unclearError),
	live("versions", "version negotiation", "the runtime says which OpenGAP versions it supports",
		code("versions-not-told", "the output does not name 0.4")),
	live("execution", "version negotiation", "the runtime does not execute an agent of a version it does not support",
		code("version-executed", "an agent of version 9.9 was executed")),
	live("previous", "spec version compatibility",
		"the runtime supports the current minor version of OpenGAP and the one before it",
		code("previous-not-told", "the runtime does not name 0.3"),
		code("previous-not-run", "the runtime does not run an agent of version 0.3")),
}

// RuntimeRules returns the requirements on a runtime.
func RuntimeRules() []verdict.Rule { return runtime }

var rules01 = []verdict.Rule{
	{ID: "gap01-manifest", Title: "its agent.yaml has the required members, each of its kind, and no unknown one",
		Cite: first,
		Role: "agent", Why: "the command that reads this dialect refuses an agent.yaml that has anything else",
		Fix: "correct agent.yaml; what has no member of its own goes below metadata",
		Codes: []strict.Code{noManifest, unreadable,
			{"missing-field", "a required member is missing, or name, version or description is empty or not a text",
				"write it in agent.yaml"},
			{"member-value",
				"a member has another kind of value, another form or another range than this dialect takes",
				"write the value that the message names"},
			{"name-form", "name is not a lower-case letter followed by lower-case letters, digits and hyphens",
				"rename the agent, such as order-helper"},
			{"unknown-field", "agent.yaml has a member that this dialect does not know",
				"drop it, or move it below metadata"},
		}},
	{ID: "gap01-hooks", Title: "hooks/hooks.yaml has the members of hooks, and each script is a file in hooks/",
		Cite: first, Role: "agent", Why: "a hook that does not load guards nothing",
		Fix: "correct hooks/hooks.yaml",
		Codes: []strict.Code{
			{"hooks-unreadable", "hooks/hooks.yaml is not YAML with one meaning, or not a mapping",
				"write hooks/hooks.yaml as one YAML mapping with the member hooks"},
			{"missing-field", "a hook has no script or no description, or the file no hooks",
				"write it in hooks/hooks.yaml"},
			{"member-value", "a member of a hook has another kind of value", "write the value that the message names"},
			{"unknown-field", "the file has a member or an event that this dialect does not know", "drop it"},
			{"script-not-there", "the script of a hook is not a file in hooks/", "add the file, or correct its name"},
		}},
	{ID: "gap01-references", Title: "the skills, tools and agents that agent.yaml names exist", Cite: first,
		Role: "agent",
		Why:  "a runtime cannot load what does not exist", Fix: "add the file or directory, or drop the name",
		Codes: []strict.Code{
			{"skill-not-there", "agent.yaml names a skill that has no directory in skills/",
				"add skills/NAME/SKILL.md, or drop the name"},
			{"skill-without-text", "the directory of a skill that agent.yaml names has no SKILL.md",
				"add SKILL.md to it"},
			{"tool-not-there", "agent.yaml names a tool that has no file in tools/",
				"add tools/NAME.yaml, or drop the name"},
			{"agent-not-there", "agent.yaml names an agent that has neither a directory nor a .md file in agents/",
				"add agents/NAME/ or agents/NAME.md, or drop the name"},
		}},
	{ID: "gap01-soul", Title: "SOUL.md says more than headings", Cite: first, Role: "agent",
		Why: "SOUL.md says who the agent is",
		Fix: "write a paragraph into SOUL.md",
		Codes: []strict.Code{
			{"no-soul", "the directory has no SOUL.md", "add SOUL.md, under that name, with a paragraph in it"},
			{"empty-soul", "SOUL.md is empty, has only headings, or cannot be read",
				"write a paragraph into SOUL.md that says who the agent is and what it does"},
		}},
	{ID: "gap01-skills", Title: "each SKILL.md begins with its name and its description", Cite: first, Role: "agent",
		Why: "a model decides by name and description when to use a skill",
		Fix: "begin SKILL.md with front matter: ---, name, description, ---",
		Codes: []strict.Code{
			{"no-front-matter", "SKILL.md does not begin with front matter that is YAML with one meaning",
				"begin the file with a line ---, name and description, and a line ---"},
			{"missing-field", "the front matter has no name or no description, or it is empty or no text",
				"write it there, as text"},
			{"name-form", "the name has more than 64 characters, two hyphens in a row, or a hyphen at an end",
				"rename the skill"},
			{"long-description", "the description has more than 1,024 characters",
				"shorten it; details belong below the front matter"},
			{"other-name", "the skill has another name than its directory", "give both the same name"},
		}},
}
