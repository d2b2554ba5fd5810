import { describe, expect, it } from 'vitest'
import { scanHcl as scanNative, scanJson as scanTree } from '../../../../sidecars/iac/host-programs/inspect.ts'

const PLACE = {
  workspace: '/work/repo/root',
  boundary: '/work/repo',
  folder: '/work/repo/root',
  isOwnOverride: false,
  hasPlainKeys: false,
  overrideFilename: 'backend_override.tf',
  allowedHosts: [],
}
const scanHcl = (source: string) => scanNative(source, PLACE)
const scanJson = (source: string) => scanTree(source, PLACE)

const PROVISIONER = '  provisioner "local-exec" {\n    command = "id"\n  }\n'
const resource = (body: string) => `resource "terraform_data" "x" {\n${body}}\n`
/** The start of a template, apart from the templates of this file. */
const open = '$' + '{'
const locals = (value: string) => `locals {\n  a = ${value}\n}\n`
const constructs = (source: string) => scanHcl(source).findings.map(({ construct }) => construct)

describe('native syntax: refused', () => {
  it.each([
    ['the usual form', resource(PROVISIONER)],
    ['remote-exec', resource('  provisioner "remote-exec" {\n  }\n')],
    ['a provisioner found beside the configuration', resource('  provisioner "own" {\n  }\n')],
    ['a label without quotes', resource('  provisioner local-exec {\n  }\n')],
    ['an escaped label', resource('  provisioner "local\\u002dexec" {\n  }\n')],
    ['comments between the words', resource('  provisioner /* { " */ "local-exec" /* } */ {\n  }\n')],
    ['tabs and spaces', resource('\t provisioner\t\t"local-exec"{\n  }\n')],
    ['carriage returns', resource(PROVISIONER).replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${resource(PROVISIONER)}`],
    ['a destroy-time provisioner of a removed block', `removed {\n  from = terraform_data.x\n${PROVISIONER}}\n`],
    ['after a heredoc with an indented end', locals('<<EOT\n x\n    EOT  ') + resource(PROVISIONER)],
    ['after a heredoc whose line ends in a dollar', locals('<<EOT\n$\nEOT') + resource(PROVISIONER)],
    ['after a heredoc ended between unusual spaces', locals('<<EOT\n x\n\u00a0EOT\u0085') + resource(PROVISIONER)],
    ['after nested heredocs', locals(`<<A\n${open}<<A\nx\nA\n}\nA`) + resource(PROVISIONER)],
    ['after a string with an escaped quote', locals('"\\""') + resource(PROVISIONER)],
    ['after a string that ends in a backslash', locals('"\\\\"') + resource(PROVISIONER)],
    ['after escaped template introducers', locals('"$${ %%{ $$${"') + resource(PROVISIONER)],
    ['after nested templates', locals(`"${open}"${open}"}"}"}"`) + resource(PROVISIONER)],
    ['after a comment inside of a template', locals(`"${open} /* } " */ "a" }"`) + resource(PROVISIONER)],
    ['after a comment that opens none', `# /*\n// "\n${resource(PROVISIONER)}`],
  ])('%s', (_name, source) => {
    expect(constructs(source)).toHaveLength(1)
  })

  it('external data sources, also inside of a check', () => {
    expect(constructs('data "external" "x" {\n  program = ["id"]\n}\n')).toEqual(['data "external"'])
    expect(constructs('check "c" {\n  data external x {\n  }\n}\n')).toEqual(['data "external"'])
    expect(constructs('ephemeral "external" "x" {\n}\n')).toEqual(['ephemeral "external"'])
  })

  it('credential programs of a provider, as a block and as an object', () => {
    expect(constructs('provider "kubernetes" {\n  exec {\n    command = "aws"\n  }\n}\n')).toEqual([
      'exec of a provider',
    ])
    expect(
      constructs('provider "helm" {\n  kubernetes = {\n    exec = {\n      command = "sh"\n    }\n  }\n}\n'),
    ).toEqual(['exec of a provider'])
    expect(constructs('provider "kubernetes" {\n  dynamic "exec" {\n  }\n}\n')).toEqual(['exec of a provider'])
  })

  it('names the line of the block header', () => {
    expect(scanHcl(`# one\n# two\n${resource(PROVISIONER)}`).findings).toEqual([
      { line: 4, construct: 'provisioner "local-exec"', kind: 'provisioner', owner: 'terraform_data.x' },
    ])
  })
})

describe('native syntax: accepted', () => {
  it.each([
    ['a file provisioner', resource('  provisioner "file" {\n    source = "a"\n  }\n')],
    ['a line comment', resource('  # provisioner "local-exec" {\n')],
    ['a block comment', `/*\n${resource(PROVISIONER)}*/\n`],
    ['a string', locals('"provisioner \\"local-exec\\" {"')],
    ['a heredoc', locals(`<<EOT\n${resource(PROVISIONER)}EOT`)],
    ['a heredoc with a template', locals(`<<-EOT\n\${join(",", ["}"])}\n${PROVISIONER}  EOT`)],
    ['an attribute of that name', locals('{ provisioner = "local-exec" }')],
    ['a managed resource named external', 'resource "x" "external" {\n}\n'],
    ['a data source named external', 'data "aws_ami" "external" {\n}\n'],
    ['an exec attribute outside of a provider', locals('{ exec = { command = "x" } }')],
    ['a probe of a workload', 'resource "kubernetes_pod" "x" {\n  exec {\n    command = ["true"]\n  }\n}\n'],
  ])('%s', (_name, source) => {
    expect(scanHcl(source)).toMatchObject({ findings: [], complete: true })
  })
})

describe('files that end elsewhere than they say', () => {
  it.each([
    'a = "',
    'a = <<EOT\nx\n',
    'resource "a" "b" {\n',
    'a = 1 /* ',
    '}\n',
    `a = "${open}b`,
  ])('%j is not judged', (source) => {
    expect(scanHcl(source).complete).toBe(false)
  })

  it('survives deep nesting', () => {
    expect(scanHcl(`a = ${`"${open}`.repeat(100_000)}`).complete).toBe(false)
    expect(scanJson('['.repeat(100_000)).complete).toBe(false)
  })
})

describe('JSON syntax', () => {
  const refused = (value: unknown) => scanJson(JSON.stringify(value)).findings.map(({ construct }) => construct)

  it('finds provisioners at every shape of the tree', () => {
    const provisioner = { 'local-exec': { command: 'id' } }
    expect(refused({ resource: { terraform_data: { x: { provisioner } } } })).toEqual(['provisioner "local-exec"'])
    expect(refused({ resource: [{ terraform_data: [{ x: [{ provisioner: [provisioner] }] }] }] })).toEqual([
      'provisioner "local-exec"',
    ])
    expect(refused([{ resource: { terraform_data: { x: { provisioner } } } }])).toEqual(['provisioner "local-exec"'])
    expect(refused({ removed: { from: 'a.b', provisioner } })).toEqual(['provisioner "local-exec"'])
  })

  it('finds external data sources and credential programs', () => {
    expect(refused({ data: { external: { x: { program: ['id'] } } } })).toEqual(['data "external"'])
    expect(refused({ check: { c: { data: [{ external: { x: {} } }] } } })).toEqual(['data "external"'])
    expect(refused({ provider: { kubernetes: [{ exec: [{ command: 'x' }] }] } })).toEqual(['exec of a provider'])
  })

  it('is not fooled by a second key of the same name, nor by escapes', () => {
    const hidden = '{"data": {"external": {"x": {}}},\n "data": {"aws_ami": {"y": {}}}}'
    expect(scanJson(hidden).findings).toEqual([{ line: 1, construct: 'data "external"', kind: 'external' }])
    expect(scanJson('{"data": {"exter\\u006eal": {"x": {}}}}').findings).toHaveLength(1)
  })

  it('accepts the words as values and elsewhere', () => {
    expect(refused({ resource: { terraform_data: { x: { input: { provisioner: { 'local-exec': 1 } } } } } })).toEqual(
      [],
    )
    expect(refused({ resource: { terraform_data: { x: { provisioner: { file: {} } } } } })).toEqual([])
    expect(refused({ locals: { a: 'provisioner "local-exec" {' } })).toEqual([])
  })

  it.each(['', '{', '{"a": }', '{"a": 1} x', "{'a': 1}"])('%j is not judged', (source) => {
    expect(scanJson(source).complete).toBe(false)
  })

  it('leaves a variable in a source alone where the text before it names the host', () => {
    const open = '$' + '{var.x}'
    const sources = [`git::https://example.com/m.git?ref=${open}`, `git@example.com:m/${open}.git`, `acme/${open}/aws`]
    for (const source of sources)
      expect(scanHcl(`module "m" {\n  source = "${source}"\n}\n`).findings, source).toEqual([])
  })

  it('reports local module sources in both forms', () => {
    expect(scanJson('{"module": {"m": {"source": "./a"}, "n": {"source": "registry/x/y"}}}').modules).toEqual(['./a'])
    expect(
      scanHcl('module "m" {\n  source = "../a"\n}\nmodule "n" {\n  source = "git::https://x"\n}\n').modules,
    ).toEqual(['../a'])
  })
})
