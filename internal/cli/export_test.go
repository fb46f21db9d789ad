package cli

// Defaults are those of the Action's inputs.
var Defaults = defaults
