// Holds action metadata and workflows against GitHub's own parser: node parse.cjs FILE…, after it is bundled, since
// node cannot import the parser as it is.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { parseAction } from "@actions/workflow-parser/actions/action-parser";

for (const name of process.argv.slice(2)) {
  const parse = basename(name) === "action.yml" ? parseAction : parseWorkflow;
  const result = parse({ name, content: readFileSync(name, "utf8") }, new NoOperationTraceWriter());
  const errors = result.context.errors.getErrors();
  for (const error of errors) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
  if (errors.length === 0 && result.value === undefined) {
    console.error(`${name}: the parser made nothing of it`);
    process.exitCode = 1;
  }
  console.log(`${name}: ${errors.length} errors`);
}
