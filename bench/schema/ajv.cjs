// Reads {schema, texts, rounds} from stdin; writes the best time of a round and the number of valid texts.
const load = require('module').createRequire(process.argv[1] + '/x.js')
const Ajv = load('ajv/dist/2020'), addFormats = load('ajv-formats')
const {schema, texts, rounds} = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const validate = addFormats(new Ajv({allErrors: true, strict: false})).compile(JSON.parse(schema))
let milliseconds = Infinity, valid
for (let round = 0; round < rounds; round++) {
  const start = process.hrtime.bigint()
  valid = 0
  for (const text of texts) if (validate(JSON.parse(text))) valid++
  milliseconds = Math.min(milliseconds, Number(process.hrtime.bigint() - start) / 1e6)
}
console.log(JSON.stringify({milliseconds, valid}))
