import { parseArgs } from 'node:util'
import { buildConsole } from './build.ts'

const HELP = `Builds the console into console/dist, which the core serves at /console/.

Usage: npm run console:build [-- options]

  --out <folder>   another folder
  --readable       without minification, with the warnings of the libraries
  --help`

const { values } = parseArgs({
  options: { out: { type: 'string' }, readable: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help) console.log(HELP)
else {
  const { files, initial } = await buildConsole({ outdir: values.out, minify: !values.readable })
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`.padStart(10)
  for (const { path, bytes, gzip_bytes } of files.toSorted((a, b) => b.gzip_bytes - a.gzip_bytes))
    console.log(`${kilobytes(bytes)}${kilobytes(gzip_bytes)} gzip  ${initial.includes(path) ? '* ' : '  '}${path}`)
  const first = files.filter(({ path }) => initial.includes(path)).reduce((sum, { gzip_bytes }) => sum + gzip_bytes, 0)
  console.log(`* the first scripts: ${kilobytes(first).trim()} gzip`)
}
