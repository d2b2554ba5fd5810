import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { lintPrompts } from '../../../dev/prompt-lint/lint.ts'
import { shippedPrompts, splitMarkdown } from '../../../dev/prompt-lint/markdown.ts'
import { HEADINGS } from '../../../dev/prompt-lint/rules.ts'
import { readProviderSchema } from '../../../dev/prompt-lint/schema.ts'
import { findEngine } from '../../../sidecars/iac/engine/find.ts'
import { readSeedPrompts } from '../../../src/runtime/prompts.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const shipped = await readSeedPrompts()
const schemaFile = process.env.PLATFORM_PROVIDER_SCHEMA
const schema = schemaFile ? readProviderSchema(JSON.parse(await readFile(schemaFile, 'utf8'))) : null
const findings = lintPrompts(shipped, { required: shippedPrompts(), schema })
const engine = await findEngine({ binary: '', path: process.env.PATH ?? '', download: null }).catch(() => null)

describe('shipped prompts', () => {
  const folder = temporaryFolder()
  test.each([...new Set([...shippedPrompts(), ...shipped.keys()])].sort())('%s', (name) => {
    const own = findings.filter(({ prompt }) => prompt === name)
    expect(own.map(({ line, message, rule }) => `${line ?? '-'}: ${message} (${rule})`)).toEqual([])
  })

  test.skipIf(engine === null)('examples are formatted as the engine does it', async () => {
    const examples = [...shipped].flatMap(([name, { body }]) =>
      splitMarkdown(body)
        .examples.filter(({ language }) => language === 'hcl')
        .map(({ code, line }) => [`${name}-${line}.tf`, code] as const),
    )
    expect(examples.length).toBeGreaterThan(20)
    await Promise.all(examples.map(([file, code]) => writeFile(join(folder, file), code)))
    const run = promisify(execFile)(engine ?? '', ['fmt', '-check', '-list=true', '-diff', folder], {
      encoding: 'utf8',
      // OpenTofu reports on its output that a configuration file named by the environment is missing.
      env: { PATH: process.env.PATH },
    })
    expect(
      await run.then(
        ({ stdout }) => stdout,
        (error) => String(error.stdout) + String(error.stderr),
      ),
    ).toBe('')
  })
})

const expression = (name: string) => ['$', name].join('{').concat('}')
const filler = 'Every line of this text says what to do. '.repeat(30)
const resource = (body = '', title = '# Buckets (`google_storage_bucket`)') =>
  `${title}\n\n` +
  `${HEADINGS.map((heading, index) => `## ${heading}\n${index === 0 ? filler : 'Text.'}`).join('\n')}\n${body}\n`
/** Lints a set that is complete except for the given prompts. */
const lint = (given: Record<string, string>) => {
  const bodies: Record<string, string> = {
    'gcp-resources-bucket': resource(),
    'gcp-guidelines-resources_list': `# Templates\n\n${filler}\n- \`bucket\`: buckets\n`,
    'gcp-guidelines-abbreviations': `# Abbreviations\n\n${filler}\n- google_storage_bucket: gcs\n`,
    'gcp-guidelines-import_exceptions': `# Never imported\n\n${filler}\n`,
    ...given,
  }
  return lintPrompts(new Map(Object.entries(bodies).map(([name, body]) => [name, { body }])))
    .filter(({ rule, message }) => rule !== 'name' || message !== 'is missing')
    .map(
      ({ prompt, rule, line, message }) => `${prompt.split('-').slice(1).join('-')} ${line ?? '-'} ${rule}: ${message}`,
    )
}
const lintResource = (body: string) => lint({ 'gcp-resources-bucket': body })

describe('findings', () => {
  test('none for a whole set', () => {
    expect(lint({})).toEqual([])
  })

  test('names: missing ones of the clouds at hand, wanted ones, impossible ones', () => {
    const prompts = new Map([['oci-resources-x', { body: resource() }]])
    const missing = lintPrompts(prompts, { required: ['oci-resources-vcn'] })
      .filter(({ message }) => message === 'is missing')
      .map(({ prompt }) => prompt)
    expect(missing).toContain('general-guidelines-engine')
    expect(missing).toContain('oci-guidelines-import_exceptions')
    expect(missing).toContain('oci-resources-vcn')
    expect(missing.some((name) => name.startsWith('aws-'))).toBe(false)
    expect(lint({ 'gcp-things-x': resource() })).toContain('things-x - name: is no name of a prompt')
    expect(lint({ 'gcp-resources-_x': resource() })).toContain('resources-_x - name: is no name of a prompt')
  })

  test('length', () => {
    expect(lintResource(resource().replace(filler, 'Short.'))[0]).toMatch(
      / - length: has \d+ words; 200 to 900 are allowed$/,
    )
    expect(lintResource(resource('word '.repeat(900)))[0]).toMatch(/ - length: /)
    expect(lint({ 'gcp-guidelines-networking': '# Networks\n' })[0]).toMatch(/^guidelines-networking - length: /)
  })

  test('sections: order, missing, more, empty, in code', () => {
    expect(lintResource(resource().replace('## Naming', '## Names'))[0]).toMatch(
      / - headings: has the sections Purpose, .*Names/,
    )
    expect(lintResource(resource('## More\ntext'))[0]).toMatch(/ - headings: /)
    expect(lintResource(resource().replace('## Naming\nText.', '## Naming\n'))[0]).toMatch(
      / headings: is a section without text$/,
    )
    expect(lintResource(resource('```sh\n## no heading\n```'))).toEqual([])
    expect(lintResource(resource('```hcl\na = 1'))[0]).toMatch(/ fence: opens a code block that nothing closes$/)
    expect(lintResource(resource().replace(/^# .*\n/, ''))).toContain(
      'resources-bucket 1 headings: does not begin with a title',
    )
  })

  test.each([
    ['use {{ name }}', 'placeholder: holds a placeholder of a template language'],
    ['{% if x %}', 'placeholder: holds a placeholder of a template language'],
    ['give it <your name>', 'placeholder: holds an angle placeholder outside of code'],
    [`give it ${expression('name')}`, 'placeholder: holds an unfilled expression outside of code'],
    ['TODO: more', 'placeholder: is unfinished'],
    ['a \u2014 b', 'style: holds a dash that is longer than a hyphen'],
    ['scales seamlessly', 'style: advertises'],
    [`key AKIA${'ABCDEFGH'.repeat(2)}`, 'secret: holds an AWS access key'],
    ['`postgres://app:hunter2@host/db`', 'secret: holds an address with a password'],
  ])('%j', (text, finding) => {
    const [line] = lintResource(resource(text))
    expect(line).toContain(finding)
  })

  describe('versions', () => {
    const creating = (claim: string, more = '') => `# Creating\n\n${filler}\n- ${claim}\n${more}`
    const CLAIM = 'Written for versions 5 and 6 of the provider `hashicorp/aws`.'
    const region =
      'Use `data.aws_region.current.region`.\n\n```hcl\nlocals {\n  a = data.aws_region.current.region\n}\n```\n'
    const lintAws = (creation: string, options: Parameters<typeof lintPrompts>[1] = {}) =>
      lintPrompts(new Map([['aws-guidelines-resource_creation', { body: creation }]]), options)
        .filter(({ rule }) => rule === 'versions' || rule === 'schema')
        .map(({ rule, line, message }) => `${line ?? '-'} ${rule}: ${message}`)

    test('are claimed', () => {
      expect(lintAws(creating('Follow the repository.'))).toEqual([
        '- versions: does not say which versions of the provider it is written for',
      ])
      expect(lintAws(creating(CLAIM))).toEqual([])
    })

    test('hold what the lowest one has, except where a line names the other', () => {
      const tooNew = 'has data.aws_region.*.region, which exists since version 6; the texts are written for 5 as well'
      expect(lintAws(creating(CLAIM, region))).toEqual([`5 versions: ${tooNew}`, `9 versions: ${tooNew}`])
      expect(lintAws(creating('Written for version 6 of the provider `hashicorp/aws`.', region))).toEqual([])
      expect(lintAws(creating(CLAIM, 'Only in provider 6: `data.aws_region.current.region`.\n'))).toEqual([])
      expect(lintAws(creating(CLAIM, '```hcl\nx = {\n  region = "a"\n}\n```\n'))[0]).toContain('the argument region')
    })

    test('are those of the schema, in which references exist', () => {
      const schema = readProviderSchema({
        provider_schemas: {
          aws: { data_source_schemas: { aws_region: { block: { attributes: { id: {}, name: {} } } } } },
        },
      })
      const options = { schema, installed: [{ source: 'hashicorp/aws', version: '5.100.0', constraints: null }] }
      expect(lintAws(creating(CLAIM, region), options).filter((line) => line.includes('schema:'))).toEqual([
        '5 schema: data.aws_region.current.region does not exist',
        '9 schema: data.aws_region.current.region does not exist',
      ])
      const fine = region.replaceAll('current.region', 'current.id')
      expect(lintAws(creating(CLAIM, fine), options)).toEqual([])
      const older = [{ source: 'hashicorp/aws', version: '4.67.0', constraints: null }]
      expect(lintAws(creating(CLAIM), { schema, installed: older })).toEqual([
        '- versions: is not written for hashicorp/aws 4.67.0, whose schema is given',
      ])
    })
  })

  test('code may hold what prose may not', () => {
    expect(
      lintResource(
        resource(
          `\`<project>/<name>\` and \`${expression('var.x')}\`\n\`\`\`hcl\na = "${expression('var.x')}-<b>"\n\`\`\``,
        ),
      ),
    ).toEqual([])
  })

  test.each([
    ['```hcl\nx {\n```', 'example: a block is not closed'],
    ['```hcl\na = 1\nbb = 2\n```', 'format: has its equals sign in another column'],
    ['```\na = 1\n```', 'example: opens a code block without a language'],
    [
      '```hcl\nresource "a" "b" {\n  users {\n    password = "hunter2"\n  }\n}\n```',
      'secret: gives password a literal value',
    ],
    [
      '```hcl\nresource "kubernetes_secret_v1" "b" {\n  token = "abcd1234"\n}\n```',
      'secret: gives token a literal value',
    ],
  ])('%j', (text, finding) => {
    expect(lintResource(resource(text))).toEqual([expect.stringContaining(finding)])
  })

  test('references, placeholders and resource names are no literal secrets', () => {
    const code = [
      'resource "a" "b" {',
      '  password    = var.password',
      `  token       = "${expression('var.token')}"`,
      '  api_key     = "placeholder"',
      '  secret_name = "db"',
      '}',
    ].join('\n')
    expect(lintResource(resource(`\`\`\`hcl\n${code}\n\`\`\``))).toEqual([])
  })

  test('the line of a finding is that of the body', () => {
    const body = resource('```hcl\nx {\n a = 1\n}\n```')
    const line = body.split('\n').indexOf(' a = 1') + 1
    expect(lintResource(body)).toEqual([`resources-bucket ${line} format: is not indented by 2`])
  })

  test('the catalogue lists what exists, once and in its form', () => {
    const list = (lines: string) => lint({ 'gcp-guidelines-resources_list': `# Templates\n\n${filler}\n${lines}\n` })
    expect(list('')).toEqual(['guidelines-resources_list - catalogue: does not list bucket'])
    expect(list('- `bucket`: a\n- `network`: b')).toEqual([
      'guidelines-resources_list 5 catalogue: lists network, which has no prompt',
    ])
    expect(list('- `bucket`: a\n- `bucket`: b')).toEqual(['guidelines-resources_list 5 catalogue: lists bucket twice'])
    expect(list('- `bucket`: a\n- bucket')[0]).toMatch(/has an entry that is not of the form/)
  })

  test('abbreviations cover the types in titles, once and in their form', () => {
    const list = (lines: string) => lint({ 'gcp-guidelines-abbreviations': `# Abbreviations\n\n${filler}\n${lines}\n` })
    expect(list('- google_x: x')).toEqual([
      'guidelines-abbreviations - abbreviations: has no line for google_storage_bucket of gcp-resources-bucket',
    ])
    expect(list('- google_storage_bucket: gcs\n- google_storage_bucket: b')).toEqual([
      'guidelines-abbreviations 5 abbreviations: abbreviates google_storage_bucket twice',
    ])
    expect(list('- google_storage_bucket: gcs\n- google_x: A B')[0]).toMatch(/has an entry that is not of the form/)
    expect(lintResource(resource('', '# Buckets'))).toEqual([
      'resources-bucket 1 abbreviations: names no resource type in its title',
    ])
  })

  test.each([
    ['gcp', '- `projects/p/zones/z/disks/d` kept by hand', []],
    ['gcp', '- my-project-1 roles/viewer user:a@example.com', []],
    [
      'gcp',
      '- everything of the data team',
      ["lists 'everything of the data team', which is no identifier of this cloud"],
    ],
    ['aws', '- `arn:aws:s3:::logs`', []],
    ['aws', '- logs', ["lists 'logs', which is no identifier of this cloud"]],
    ['azure', '- /subscriptions/1/resourceGroups/rg', []],
    ['azure', '- rg', ["lists 'rg', which is no identifier of this cloud"]],
    ['oci', '- ocid1.vcn.oc1..a', []],
    ['oci', '- n/space/b/logs', []],
    ['oci', '- logs', ["lists 'logs', which is no identifier of this cloud"]],
    ['kubernetes', '', ['is never read']],
  ])('%s: the import exceptions %j', (cloud, line, messages) => {
    const name = `${cloud}-guidelines-import_exceptions`
    const found = lintPrompts(new Map([[name, { body: `# Never imported\n\n${filler}\n${line}\n` }]]))
    expect(
      found.filter(({ prompt, rule }) => prompt === name && rule === 'import-exceptions').map(({ message }) => message),
    ).toEqual(messages)
  })
})
