import { spawnSync } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { readHcl } from '../../src/hcl/read.ts'
import type { HclBody } from '../../src/hcl/tree.ts'
import { engineOnPath } from '../helpers/engine.ts'
import { temporaryFolder } from '../helpers/folder.ts'

/** The long form has thousands of random documents: `HCL_DOCUMENTS=5000 npx vitest run test/hcl`. */
const { HCL_DOCUMENTS, HCL_SEED } = process.env
const COUNT = Number(HCL_DOCUMENTS ?? 150)
const SEED = Number(HCL_SEED ?? (HCL_DOCUMENTS ? Math.floor(Math.random() * 2 ** 31) : 7))
const LIMIT_MS = 20_000 + COUNT * 100

const folder = temporaryFolder()
const engine = await engineOnPath()
const run = (...args: string[]) =>
  spawnSync(engine, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30, env: { HOME: folder } })

const name = fc.constantFrom('a', 'b_1', 'c-d', 'größe', '変数', 'for', 'if', 'null', 'E', 'resource')
const layout = fc.constantFrom(' ', '  ', '\t', ' /* } " */ ', ' /* <<E\n*/ ')
const lineEnd = fc.constantFrom('\n', '\n', '\r\n', '\n\n', ' # } "\n', ' // {\r\n', ' /* */\n')
const text = fc.constantFrom(
  ...['x', '{', '}', '$', '%', '$$', '%%', '$${', '%%{', '#', '/*', '//', "'", ' ', 'E', '<<E'],
  ...['\u00a0', '\u0085', 'é'],
)
const escaped = fc.constantFrom('\\"', '\\\\', '\\n', '\\u0041', '\\U0001f600')

const { expression } = fc.letrec<{ expression: string; template: string }>((tie) => ({
  template: fc
    .tuple(layout, tie('expression'), layout)
    .map(([before, value, after]) => `\${${before}${value}${after}}`),
  expression: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(name, fc.constantFrom('1', '1.5e3', '9007199254740993', 'true', 'null', 'a.b[0]', 'a["k"].c', 'a[*].b')),
    fc.array(fc.oneof(text, escaped, tie('template')), { maxLength: 5 }).map((parts) => `"${parts.join('')}"`),
    fc
      .record({
        marker: fc.constantFrom('E', 'A-B', 'ÄÖ'),
        form: fc.constantFrom('<<', '<<-'),
        indent: fc.constantFrom('', '  ', '\u00a0'),
        lines: fc.array(fc.array(fc.oneof(text, tie('template')), { maxLength: 4 }), { maxLength: 3 }),
        end: fc.constantFrom('\n', '\r\n'),
      })
      .map(({ marker, form, indent, lines, end }) =>
        [`(${form}${marker}`, ...lines.map((parts) => parts.join('')), `${indent}${marker}`, ')'].join(end),
      ),
    fc.array(tie('expression'), { maxLength: 3 }).map((items) => `[${items.join(',\n')}]`),
    fc
      .array(fc.tuple(name, fc.constantFrom('=', ':'), tie('expression')), { maxLength: 3 })
      .map((entries) => `{\n${entries.map(([key, sign, value]) => `${key} ${sign} ${value}\n`).join('')}}`),
    fc.tuple(name, tie('expression')).map(([called, argument]) => `${called}(${argument}, 2)`),
    fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `${one} == ${other} ? -1 : !b`),
    tie('expression').map((value) => `[for k, v in ${value} : v if true]`),
  ),
}))
const attribute = fc
  .tuple(name, layout, expression, lineEnd)
  .map(([named, gap, value, end]) => `@${named}${gap}=${gap}${value}${end}`)
const { body } = fc.letrec<{ body: string; block: string }>((tie) => ({
  block: fc
    .tuple(
      name,
      fc.array(
        fc.oneof(
          name,
          name.map((label) => `"${label}"`),
        ),
        { maxLength: 2 },
      ),
      layout,
      tie('body'),
      lineEnd,
    )
    .map(([type, labels, gap, inner, end]) => `${[type, ...labels].join(gap)}${gap}{\n${inner}}${end}`),
  body: fc
    .array(fc.oneof({ maxDepth: 3, depthSize: 'small' }, attribute, tie('block')), { maxLength: 4 })
    // The engine refuses a duplicate attribute.
    .map((items) => items.map((item, index) => item.replace(/^@/, `a${index}`)).join('')),
}))
const generated = fc.tuple(fc.constantFrom('', '\uFEFF'), body).map((parts) => parts.join(''))

const corpus = await Promise.all(
  (await readdir(join(import.meta.dirname, 'corpus')))
    .filter((file) => file.endsWith('.tf'))
    .map((file) => readFile(join(import.meta.dirname, 'corpus', file), 'utf8')),
)
const inserted = fc.constantFrom(
  ...['"', '{', '}', '[', ']', '(', ')', '/*', '*/', '#', '\n', '\r\n', '\r', '\\'],
  ...['${', '%{', '$${', '<<E\n', '\nE\n'],
  ...[',', '=', ':', ' ', '\u00a0', 'x {\n}\n', 'a = 1\n'],
)
const mutated = fc
  .record({
    code: fc.constantFrom(...corpus),
    edits: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(3), inserted }), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  .map(({ code, edits }) =>
    edits.reduce((before, { at, cut, inserted: addition }) => {
      const place = Math.floor(at * before.length)
      return before.slice(0, place) + addition + before.slice(place + cut)
    }, code),
  )

type Shape = [name: string, ...labels: string[], Shape[]] | string
const shapeOf = ({ attributes, blocks }: HclBody): Shape[] => [
  ...attributes.map((one) => one.name).sort(),
  ...blocks.map(({ type, labels, body: inner }): Shape => [type, ...labels, shapeOf(inner)]),
]

/** Writes the documents into the folder. Returns those that the engine's formatter accepts. */
async function format(documents: fc.Arbitrary<string>): Promise<{ file: string; code: string }[]> {
  for (const file of await readdir(folder)) await rm(join(folder, file), { recursive: true })
  const codes = fc
    .sample(documents, { seed: SEED, numRuns: COUNT })
    .map((code, index) => ({ file: `${index}.tf`, code }))
  await Promise.all(codes.map(({ file, code }) => writeFile(join(folder, file), code)))
  const { stderr } = run('fmt', '-list=false', '-no-color')
  const refused = new Set([...stderr.matchAll(/on (\d+\.tf) line/g)].map(([, file]) => file))
  await Promise.all([...refused].map((file) => rm(join(folder, file ?? ''))))
  return codes.filter(({ file }) => !refused.has(file))
}

it.each([
  ['generated documents', generated, 0.5],
  ['mutated files', mutated, 0.1],
])(
  'what the engine formats has no fault, and the same blocks before and after: %s',
  async (_, documents, share) => {
    const accepted = await format(documents)
    expect(accepted.length, `accepted of ${COUNT}, seed ${SEED}`).toBeGreaterThan(COUNT * share)
    for (const { code, file } of accepted) {
      const { body: before, faults, complete } = readHcl(code)
      const after = readHcl(await readFile(join(folder, file), 'utf8'))
      expect({ faults, complete, shape: shapeOf(before) }, `seed ${SEED}: ${code}`).toEqual({
        faults: [],
        complete: true,
        shape: shapeOf(after.body),
      })
    }
  },
  LIMIT_MS,
)

const Diagnostics = v.object({
  diagnostics: v.array(
    v.object({
      summary: v.string(),
      detail: v.string(),
      range: v.object({ filename: v.string(), start: v.object({ line: v.number(), byte: v.number() }) }),
    }),
  ),
})

it(
  'attributes and blocks stand where the engine finds them',
  async () => {
    const accepted = await format(generated)
    await Promise.all(accepted.map(({ file, code }) => writeFile(join(folder, file), code)))
    // At the top level the engine knows none of these names and reports each with its position.
    const { diagnostics } = v.parse(Diagnostics, JSON.parse(run('validate', '-json').stdout))
    const found = diagnostics.flatMap(({ summary, detail, range: { filename, start } }) => {
      const [, kind, named] =
        /^(An argument named|Blocks of type) "([^"]+)" (?:is|are) not expected here/.exec(detail) ?? []
      return kind && summary.startsWith('Unsupported ') ? [`${filename}:${start.line}:${start.byte} ${named}`] : []
    })
    const expected = accepted.flatMap(({ file, code }) => {
      const { attributes, blocks } = readHcl(code).body
      const all = [...attributes, ...blocks.map((block) => ({ ...block, name: block.type }))]
      return all
        .filter((one) => one.name !== 'resource')
        .map((one) => `${file}:${one.line}:${Buffer.byteLength(code.slice(0, one.start))} ${one.name}`)
    })
    expect(expected.length).toBeGreaterThan(COUNT / 2)
    expect(found.sort(), `seed ${SEED}`).toEqual(expected.sort())
  },
  LIMIT_MS,
)
