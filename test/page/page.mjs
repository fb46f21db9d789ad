// Opens the sample pages in headless Chromium and fails on what a reader must not meet: a script that runs, a
// request, a violation of the page's policy, a page wider than a phone, an accessibility fault, a slow start.
//
//	node page.mjs SAMPLES [SCREENSHOTS]    (PUPPETEER_EXECUTABLE_PATH names the browser)
import { mkdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import puppeteer from 'puppeteer-core'
import { AxePuppeteer } from '@axe-core/puppeteer'

const [samples, shots] = process.argv.slice(2)
if (shots) mkdirSync(shots, { recursive: true })

const pages = [
  { name: '0', axe: true },
  { name: '1', axe: true },
  { name: '1000', axe: true },
  { name: '10000', seconds: 3, mebibytes: 8 },
  { name: 'worst', seconds: 3, mebibytes: 8 },
  { name: 'check', axe: true },
  { name: 'error', axe: true },
  { name: 'hostile', axe: true },
]
const views = [
  { name: 'light', width: 1280, height: 900, scheme: 'light' },
  { name: 'dark', width: 1280, height: 900, scheme: 'dark' },
  { name: 'phone', width: 360, height: 740, scheme: 'light' },
]

let faults = 0
function fault(page, text) {
  faults++
  console.log(`FAULT ${page}: ${text}`)
}

const browser = await puppeteer.launch({
  executablePath: process.env.PUPPETEER_EXECUTABLE_PATH,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', '--disable-extensions', '--host-resolver-rules=MAP * ~NOTFOUND'],
  protocolTimeout: 240000,
})

for (const { name, axe, seconds, mebibytes } of pages) {
  const file = resolve(samples, name + '.html')
  const size = statSync(file).size
  if (mebibytes && size > mebibytes * 2 ** 20) fault(name, `${size} bytes, at most ${mebibytes} MiB`)
  const page = await browser.newPage()
  const url = pathToFileURL(file).href
  page.on('request', r => { if (r.url() !== url && !r.url().startsWith(url + '#')) fault(name, `requests ${r.url()}`) })
  page.on('dialog', d => { fault(name, `opens a dialog: ${d.message()}`); d.dismiss() })
  page.on('console', m => fault(name, `console: ${m.text()}`))
  page.on('pageerror', e => fault(name, `script error: ${e.message}`))
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = []
    addEventListener('securitypolicyviolation', e => globalThis.violations.push(`${e.effectiveDirective} ${e.blockedURI}`))
  })
  const times = []
  for (const view of views) {
    await page.setViewport({ width: view.width, height: view.height })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: view.scheme }])
    const start = performance.now()
    await page.goto(url, { waitUntil: 'load', timeout: 60000 })
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    times.push((performance.now() - start) / 1000)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > view.width) fault(name, `${width} pixels wide on a screen of ${view.width}`)
    if (shots) await page.screenshot({ path: `${shots}/${name}-${view.name}.png`, fullPage: size < 2 ** 20, captureBeyondViewport: true })
  }
  const fastest = Math.min(...times) // a busy machine adds to the others
  if (seconds && fastest > seconds) fault(name, `opened in ${fastest.toFixed(2)} s, at most ${seconds} s`)
  for (const v of await page.evaluate(() => globalThis.violations)) fault(name, `violates its policy: ${v}`)
  if (await page.evaluate(() => document.scripts.length)) fault(name, 'holds a script element')

  const lost = await page.evaluate(() => [...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id)))
  for (const id of lost) fault(name, `a link to #${id} leads nowhere`)

  await page.keyboard.press('Tab')
  if (await page.evaluate(() => document.activeElement?.className) !== 'skip') fault(name, 'the first stop of the tabulator is not the skip link')

  let checked = ''
  if (axe) {
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      // axe hardly ends with thousands of rows: there it looks once, at what is open from the start.
      if (name !== '1000') await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true }))
      if (name === '1000' && scheme === 'dark') continue
      const found = await new AxePuppeteer(page).options({ resultTypes: ['violations'] }).analyze()
      for (const v of found.violations) {
        fault(name, `axe, ${scheme}: ${v.id} (${v.impact}): ${v.help}: ${v.nodes.slice(0, 3).map(n => n.target + ' ' + n.html.slice(0, 160)).join(' | ')} (${v.nodes.length})`)
      }
      checked = `, axe: ${found.passes.length} rules passed, ${found.incomplete.map(i => i.id).join(' ') || 'none'} left to people`
    }
    await page.setViewport({ width: 360, height: 740 })
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 360) fault(name, `with all parts open ${width} pixels wide on a screen of 360`)
    if (shots && size < 2 ** 18) await page.screenshot({ path: `${shots}/${name}-open-phone.png`, fullPage: true })
  }
  const elements = await page.evaluate(() => document.getElementsByTagName('*').length)
  console.log(`${name}: ${(size / 1024).toFixed(0)} KiB, ${elements} elements, opened in ${times.map(t => t.toFixed(2)).join(', ')} s${checked}`)
  await page.close()
}
await browser.close()
if (faults) {
  console.log(`${faults} faults`)
  process.exit(1)
}
console.log('the page is as it should be')
