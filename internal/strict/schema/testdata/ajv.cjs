// Reads {schemas: {name: text}, documents: {name: [text]}, formats: {name: [text]}, patterns: [[pattern, [text]]]}
// from stdin, and writes what Ajv makes of each: [valid, ...violations] for a document, 0 or 1 for a string,
// null for a pattern that is none.
const {createRequire} = require('module')
const load = createRequire(process.argv[2] + '/x.js')
const Ajv = load('ajv/dist/2020'), addFormats = load('ajv-formats')
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const ajv = addFormats(new Ajv({allErrors: true, strict: false, logger: false}))

const violation = e => {
  const p = e.params, member = p.additionalProperty === undefined ? '' :
    '/' + p.additionalProperty.replace(/~/g, '~0').replace(/\//g, '~1')
  return `${e.instancePath}${member} ${e.keyword} ${p.missingProperty ?? ''}`
}
const out = {documents: {}, formats: {}, patterns: []}
for (const [name, texts] of Object.entries(input.documents ?? {})) {
  let validate = () => { throw 0 }
  try { validate = ajv.compile(JSON.parse(input.schemas[name])) } catch { }
  out.documents[name] = texts.map(text => {
    let valid
    try { valid = validate(JSON.parse(text)) } catch { return ['crash'] } // Ajv's own code can fail
    return [String(valid), ...new Set((validate.errors ?? []).map(violation))]
  })
}
for (const [name, texts] of Object.entries(input.formats ?? {})) {
  const validate = ajv.compile({format: name})
  out.formats[name] = texts.map(text => validate(text) ? 1 : 0)
}
for (const [pattern, texts] of input.patterns ?? []) {
  let validate = null
  try { validate = ajv.compile({pattern}) } catch { }
  out.patterns.push(validate && texts.map(text => validate(text) ? 1 : 0))
}
process.stdout.write(JSON.stringify(out))
