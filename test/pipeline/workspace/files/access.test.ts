import { chmod, lstat, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFileAccess, type FileAccess, nearPaths } from '../../../../pipeline/workspace/files/access.ts'
import { ToolError } from '../../../../src/agent/agent-request.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { git_, siteConfig } from '../support.ts'

const folder = useFolder(beforeEach)
let root: string
let access: FileAccess

beforeEach(async () => {
  const clone = join(folder.path, 'clone')
  root = join(clone, 'infra')
  await mkdir(join(root, 'net'), { recursive: true })
  await git_(['init', '--quiet', clone])
  await writeFile(join(clone, '.git', 'info', 'exclude'), '.terraform/\n*_override.tf\n*.sh\n')
  await writeFile(join(clone, '.gitignore'), 'secret*.tf\n')
  await writeFile(join(clone, 'outside.tf'), 'outside')
  await writeFile(join(root, 'main.tf'), 'resource "a" {}\n')
  await writeFile(join(root, 'net', 'vpc.tf'), 'vpc\n')
  access = createFileAccess(siteConfig(folder.path), { iacRoot: root, clone, gitDirectory: join(clone, '.git') })
})

const refused = (promise: Promise<unknown>, text: string | RegExp) =>
  promise.then(
    () => expect.unreachable('was accepted'),
    (error) => {
      expect(error).toBeInstanceOf(ToolError)
      expect(error.message).toMatch(text)
      expect(error.message).not.toContain(folder.path)
    },
  )
/** Puts a file into the root without the tools. */
const put = (name: string, content: string | Buffer = '') => writeFile(join(root, name), content)
const block = (search: string, text: string) => `<<<<<<< SEARCH\n${search}\n=======\n${text}\n>>>>>>> REPLACE`

describe('paths', () => {
  it.each([
    '../outside.tf',
    'net/../../outside.tf',
    '/etc/passwd',
    '../infra-other/main.tf',
    './../outside.tf',
    'net/../../../x.tf',
  ])('%s is refused by every tool', async (path) => {
    const text = /outside of the workspace|absolute/
    await refused(access.read(path), text)
    await refused(access.list(path), text)
    const named = path.replace('passwd', 'passwd.tf')
    await refused(access.write(named, 'x'), text)
    await refused(access.replace(named, 'x'), text)
    await refused(access.remove(named), text)
    expect(await readFile(join(root, '..', 'outside.tf'), 'utf8')).toBe('outside')
  })

  it('may wander inside of the root', async () => {
    expect(await access.read('net/../main.tf')).toBe('resource "a" {}\n')
    expect(await access.read('./net//vpc.tf')).toBe('vpc\n')
  })

  it.each(['main.tf\0', 'net\\vpc.tf'])('%j is refused', async (path) => {
    await refused(access.read(path), 'NUL or backslashes')
    await refused(access.write(path, 'x'), 'NUL or backslashes')
  })

  it.each([
    '.git/config',
    '.GIT/config.tf',
    'net/.git/x.tf',
    'backend_override.tf',
    'net/backend_override.tf',
    'Backend_Override.tf',
    'session.plan',
    'terraform.tfstate',
    '.terraform/terraform.tfstate',
    'x.tfstate.backup',
    'Session.PLAN',
    'whole-root-1234.plan',
    'net/crash.log',
    'crash.2026.log',
    '.platform-masks.json',
    '.platform-workspace',
  ])('%s is hidden from every tool', async (path) => {
    await mkdir(join(root, path, '..'), { recursive: true })
    await put(path, 'sesame').catch(() => {})
    await refused(access.read(path), 'is not accessible')
    if (path.endsWith('.tf')) await refused(access.write(path, 'x'), 'is not accessible')
    if (path.endsWith('.tf')) await refused(access.remove(path), 'is not accessible')
    expect((await access.list('.')).join()).not.toContain(path.split('/').at(-1))
    for (const pattern of [{}, { include_pattern: '**' }, { include_pattern: path }])
      expect(await access.grep({ query: 'sesame', ...pattern })).toEqual([])
  })
})

describe('symlinks', () => {
  beforeEach(async () => {
    await mkdir(join(folder.path, 'elsewhere'))
    await writeFile(join(folder.path, 'elsewhere', 'x.tf'), 'elsewhere')
    await symlink(join(folder.path, 'elsewhere'), join(root, 'dir'))
    await symlink(join(folder.path, 'elsewhere', 'x.tf'), join(root, 'leaf.tf'))
    await symlink(join(folder.path, 'elsewhere', 'new.tf'), join(root, 'dangling.tf'))
    await symlink('../../clone/.git', join(root, 'gitdir'))
    await symlink('main.tf', join(root, 'inside.tf'))
    await symlink('net', join(root, 'alias'))
  })

  it('that lead out are not followed', async () => {
    for (const path of ['dir/x.tf', 'leaf.tf', 'gitdir/config'])
      await refused(access.read(path), /outside|not accessible/)
    for (const path of ['dir/x.tf', 'dir/new.tf', 'dir/a/b.tf', 'gitdir/hooks/x.tf'])
      await refused(access.write(path, 'x'), /outside|not accessible/)
    await refused(access.remove('dir/x.tf'), 'outside')
    await refused(access.list('dir'), 'outside')
    await refused(access.list('gitdir'), /outside|not accessible/)
    expect(await access.grep({ query: 'elsewhere' })).toEqual([])
    expect(await readFile(join(folder.path, 'elsewhere', 'x.tf'), 'utf8')).toBe('elsewhere')
  })

  it('are never written through', async () => {
    for (const path of ['leaf.tf', 'dangling.tf', 'inside.tf']) await refused(access.write(path, 'x'), 'symbolic link')
    await refused(access.replace('inside.tf', block('resource', 'x')), 'symbolic link')
    await expect(lstat(join(folder.path, 'elsewhere', 'new.tf'))).rejects.toThrow()
  })

  it('are removed themselves, not their target', async () => {
    await access.remove('leaf.tf')
    await access.remove('inside.tf')
    expect(await readFile(join(folder.path, 'elsewhere', 'x.tf'), 'utf8')).toBe('elsewhere')
    expect(await access.read('main.tf')).toContain('resource')
  })

  it('inside of the root are read, and directories written through', async () => {
    expect(await access.read('inside.tf')).toContain('resource')
    await access.write('alias/more.tf', 'x')
    expect(await access.read('net/more.tf')).toBe('x')
  })

  it('in a loop are no file', async () => {
    await symlink('loop.tf', join(root, 'loop.tf'))
    await refused(access.read('loop.tf'), 'does not exist')
    await refused(access.write('loop.tf/x.tf', 'x'), /./)
  })
})

describe('write', () => {
  it.each(['NFC', 'NFD'])('finds a file whose name the disk has in another form than %s', async (form) => {
    const [there, named] = form === 'NFC' ? ['NFD', 'NFC'] : ['NFC', 'NFD']
    await mkdir(join(root, 'größen'.normalize(there)))
    const [path, name] = [there, named].map((one) => 'größen/übung.tf'.normalize(one)) as [string, string]
    await put(path, 'a = 1\n')
    expect(await access.read(name)).toBe('a = 1\n')
    expect(await access.list('größen'.normalize(named))).toEqual([path])
    await access.write(name, 'a = 2\n')
    await access.replace(name, block('a = 2', 'a = 3'))
    expect(await readFile(join(root, path), 'utf8')).toBe('a = 3\n')
    await access.remove(name)
    expect(await access.list('größen'.normalize(there))).toEqual([])
  })

  it.each([
    ['line ends', 'a = 1\r\nb = 2\r\n', 'a = 1\nb = 3\n', 'a = 1\r\nb = 3\r\n'],
    ['line ends that the text has too', 'a = 1\r\nb = 2\r\n', 'a = 1\r\nb = 3\n', 'a = 1\r\nb = 3\r\n'],
    ['a byte order mark', '\uFEFFa = 1\n', 'a = 2\n', '\uFEFFa = 2\n'],
    ['nothing of mixed line ends', 'a = 1\r\nb = 2\n', 'a = 1\nb = 3\n', 'a = 1\nb = 3\n'],
    ['nothing of a file that is plain', 'a = 1\n', 'a = 2\r\n', 'a = 2\r\n'],
  ])('a file that is written as a whole keeps %s', async (_, before, content, after) => {
    await put('main.tf', before)
    expect(await access.write('main.tf', content)).toBe(true)
    expect(await readFile(join(root, 'main.tf'), 'utf8')).toBe(after)
    expect(await access.write('main.tf', content)).toBe(false)
  })

  it('creates directories, overwrites and cuts what was longer', async () => {
    await access.write('a/b/c.tf', 'long text')
    await access.write('a/b/c.tf', 'short')
    expect(await access.read('a/b/c.tf')).toBe('short')
  })

  const NAMES = ['x.sh', 'x.TF', 'tf', '.tf/x', 'x.json', 'x.tfvars.json', 'README.md', 'x.tf ']
  it.each(NAMES)('refuses the extension of %j', async (path) => {
    const text = `File extension violation. File '${path}' cannot be modified. Allowed extensions: tf, tfvars, tf.json, tofu.json`
    await refused(access.write(path, 'x'), text)
    await refused(access.replace(path, 'x'), text)
    await refused(access.remove(path), text)
  })

  it('refuses files of the engine and files that would not be committed', async () => {
    await refused(access.write('.terraform/modules/x.tf', 'x'), 'belongs to the engine')
    await refused(access.write('other_override.tf', 'x'), 'ignored by the repository')
    await refused(access.write('net/../secret1.tf', 'x'), 'ignored by the repository')
    await access.write('prod.tfvars', 'x = 1')
  })

  it('refuses what stands for an entry that was taken out of the work tree', async () => {
    for (const link of ['leak.tf', 'up', 'net/deep']) await symlink('/etc', join(root, link))
    await git_(['-C', root, 'add', 'leak.tf', 'up', 'net'])
    await git_(['-C', root, 'update-index', '--skip-worktree', 'leak.tf', 'up', 'net/deep'])
    for (const link of ['leak.tf', 'up', 'net/deep']) await rm(join(root, link))
    for (const path of ['leak.tf', 'up/x.tf', 'net/../up/a/b.tf', 'net/deep/x.tf'])
      await refused(access.write(path, 'x'), 'belongs to an entry of the repository that is not accessible')
    for (const path of ['net/other.tf', 'net/vpc.tf']) await access.write(path, 'x')
  })

  describe('of the JSON form', () => {
    const CODE =
      '{\r\n\t"locals": {"a": 1},\r\n\t"resource": [{"t": {"n": {"input": "x"}}}],\r\n\t"//": "a note"\r\n}\r\n'
    const put = (text: string) => writeFile(join(root, 'x.tf.json'), text)
    const edit = (from: string, to: string) =>
      access.replace('x.tf.json', `<<<<<<< SEARCH\n${from}\n=======\n${to}\n>>>>>>> REPLACE\n`)

    it('keeps line ends and indentation', async () => {
      await put(CODE)
      await edit('\t"locals": {"a": 1},', '\t"locals": {"a": 2},')
      expect(await access.read('x.tf.json')).toBe(CODE.replace('1', '2'))
      await access.write('net/y.tofu.json', '[{"variable": {}}, {"output": {}}]')
      await access.remove('net/y.tofu.json')
    })

    it.each([
      ['{\n  "locals": {\n    "a" 1\n  }\n}', 'the text is no JSON at line 3, column 9: a colon is missing'],
      ['{"locals": {"a": 1},}', 'the text is no JSON at line 1, column 21: unexpected character'],
      ['{"locals": {"a": yes}}', 'the text is no JSON at line 1, column 18: "yes" is no value'],
      ['{"locals": {"a": 01}}', 'line 1, column 18: "01" is no value'],
      ['{"locals": {"a": "b\nc"}}', 'line 1, column 20: a line break or control character in a text'],
      ['{"locals": {"a": "\\q"}}', 'the text is no JSON at line 1'],
      ['{"locals": {}', 'the text is no JSON at line 1, column 14: a comma is missing'],
      ['{"locals": {}} resource', 'line 1, column 16: text after the document'],
      ['resource "a" "b" {}', 'the text is no JSON at line 1'],
      ['"locals"', 'the top level is neither an object nor a list of objects'],
      ['{"locals": {},\n"resources": {}}', '"resources" in line 2 is no kind of block'],
      ['{"locals": 7}', '"locals" in line 1 is neither an object nor a list of objects'],
      [
        '{"resource": {"t": {"n": {}}},\n"locals": {},\n"resource": {"t": {"m": {}}}}',
        'the key "resource" stands twice in one object, in lines 1 and 3',
      ],
      ['[{"locals": {"a": 1,\n"\\u0061": 2}}]', 'the key "a" stands twice in one object, in lines 1 and 2'],
      [`{"locals": ${'['.repeat(300)}`, 'nested too deeply'],
    ])('refuses %j and writes nothing', async (text, fault) => {
      await put('{"locals": {"a": 0}}')
      const refusal = new RegExp(
        `^Nothing was written to 'x.tf.json': .*${fault.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
      )
      await refused(access.write('x.tf.json', text), refusal)
      if (text.length < 500) await refused(edit('{"locals": {"a": 0}}', text), refusal)
      await refused(access.write('new.tf.json', text), fault)
      expect(await access.read('x.tf.json')).toBe('{"locals": {"a": 0}}')
      await refused(access.read('new.tf.json'), 'does not exist')
    })

    it('lets an edit leave a key that already stood twice', async () => {
      await put('{"locals": {"a": 1},\n"locals": {"b": 2}}')
      await edit('{"locals": {"a": 1},', '{"locals": {"a": 3},')
      await refused(edit('{"locals": {"a": 3},', '{"locals": {"a": 3, "a": 4},'), 'the key "a" stands twice')
    })
  })

  it('refuses a directory, a file as directory, and too much', async () => {
    await mkdir(join(root, 'dir.tf'))
    await refused(access.write('dir.tf', 'x'), /cannot be modified|regular/)
    await refused(access.write('main.tf/x.tf', 'x'), /in the way|outside/)
    await refused(access.write('.', 'x'), 'extension')
    await refused(access.write('big.tf', 'x'.repeat(1_000_001)), 'larger than')
  })

  it('takes names that look like options or patterns for names', async () => {
    for (const name of ['--upload-pack=x.tf', ':(top)x.tf', '*.tf', '-.tf', 'a\nb.tf', '$(id).tf']) {
      await access.write(name, name)
      expect(await access.read(name)).toBe(name)
      expect(await access.list('.')).toContain(name)
    }
    await access.remove('*.tf')
    expect(await access.read('main.tf')).toContain('resource')
  })
})

describe('replace and delete', () => {
  it('leave the file untouched when a block does not fit', async () => {
    const diff = `${block('resource "a" {}', 'x')}\n${block('none', '')}\n`
    await refused(access.replace('main.tf', diff), /^Block 2 \(diff line 6\)/)
    expect(await access.read('main.tf')).toBe('resource "a" {}\n')
  })

  it('shorten a file', async () => {
    await access.replace('main.tf', block('resource "a" {}', 'x'))
    expect(await access.read('main.tf')).toBe('x\n')
  })

  it('refuse a missing file, and one that is no UTF-8', async () => {
    await refused(access.replace('none.tf', 'x'), 'File none.tf does not exist')
    await refused(access.remove('none.tf'), 'File none.tf does not exist')
    await refused(access.remove('none/x.tf'), 'File none/x.tf does not exist')
    const latin = Buffer.from([0x61, 0xe9, 0x0a])
    await put('latin.tf', latin)
    await refused(access.replace('latin.tf', block('a', 'b')), 'not UTF-8')
    expect(await readFile(join(root, 'latin.tf'))).toEqual(latin)
  })
})

describe('read', () => {
  it('says that a file or directory is no file', async () => {
    await refused(access.read('none.tf'), 'File none.tf does not exist')
    await refused(access.read('net'), 'File net does not exist')
    await refused(access.read('main.tf/x'), 'does not exist')
  })

  it('names existing paths that are like a missing one', async () => {
    await refused(access.read('vpc.tf'), 'File vpc.tf does not exist. There is: net/vpc.tf')
    await refused(access.read('mian.tf'), 'File mian.tf does not exist. There is: main.tf')
    await refused(access.replace('net/vcp.tf', 'x'), 'There is: net/vpc.tf')
    await refused(access.remove('modules/main.tf'), 'There is: main.tf')
    await refused(access.list('nett'), 'Directory nett does not exist. There is: net')
    await refused(access.list('modules/net/'), 'Directory modules/net/ does not exist. There is: net')
    await refused(access.list('elsewhere'), /does not exist$/)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await writeFile(join(root, `net/vpc${name}.tf`), '')
    const message = await access.read('vpcx.tf').catch((error: Error) => error.message)
    expect(String(message).split(', ')).toHaveLength(5)
  })

  it('cuts a huge file without reading all of it', async () => {
    await writeFile(join(root, 'huge.tf'), 'a'.repeat(300_000))
    const text = await access.read('huge.tf')
    expect(text).toMatch(/^a{200000}\n\(cut: the file has 300000 bytes/)
    await truncate(join(root, 'huge.tf'), 3_000_000_000)
    expect(await access.read('huge.tf')).toBe('(binary file, 3000000000 bytes)')
  })

  it('keeps multi-byte text of the limit whole', async () => {
    await writeFile(join(root, 'wide.tf'), '€'.repeat(200_000))
    expect(await access.read('wide.tf')).toBe('€'.repeat(200_000))
  })
})

describe('list', () => {
  it('shows what ignore rules leave, relative to the root', async () => {
    await mkdir(join(root, '.terraform'))
    for (const name of ['run.sh', 'secret.tf', '.hidden']) await put(name)
    expect(await access.list('.')).toEqual(['.hidden', 'main.tf', 'net/'])
    expect(await access.list('')).toEqual(['.hidden', 'main.tf', 'net/'])
    expect(await access.list('net/')).toEqual(['net/vpc.tf'])
  })

  it('refuses files and what does not exist', async () => {
    await refused(access.list('main.tf'), 'is not a directory')
    await refused(access.list('none'), 'Directory none does not exist')
  })
})

describe('search', () => {
  it('answers lines with file and number, hidden files included', async () => {
    await writeFile(join(root, '.hidden'), 'one\nVPC two\n')
    expect(await access.grep({ query: 'vpc' })).toEqual(['.hidden:2:VPC two', 'net/vpc.tf:1:vpc'])
    expect(await access.grep({ query: 'vpc', case_sensitive: true })).toEqual(['net/vpc.tf:1:vpc'])
    expect(await access.grep({ query: 'vpc', include_pattern: '*.tf' })).toEqual(['net/vpc.tf:1:vpc'])
    expect(await access.grep({ query: 'vpc', exclude_pattern: 'net/**' })).toEqual(['.hidden:2:VPC two'])
    expect(await access.grep({ query: 'nothing' })).toEqual([])
  })

  it('finds the ends of lines of either kind', async () => {
    await put('windows.tf', 'a = 1\r\nb = 12\r\n')
    await put('unix.tf', 'a = 1\nb = 12\n')
    expect(await access.grep({ query: '= 1$' })).toEqual(['unix.tf:1:a = 1', 'windows.tf:1:a = 1'])
  })

  it('stops at fifty matches', async () => {
    for (const name of ['a.tf', 'b.tf']) await writeFile(join(root, name), 'hit\n'.repeat(40))
    const lines = await access.grep({ query: 'hit' })
    expect(lines).toHaveLength(50)
    expect(lines.at(-1)).toBe('b.tf:10:hit')
  })

  it('leaves ignored files alone, and is not steered by ignore files of its own', async () => {
    await writeFile(join(root, 'secret.tf'), 'hit')
    await writeFile(join(root, '.ignore'), 'main.tf')
    expect(await access.grep({ query: 'hit' })).toEqual([])
    expect(await access.grep({ query: 'resource' })).toEqual(['main.tf:1:resource "a" {}'])
  })

  it('takes a pattern that looks like an option for a pattern', async () => {
    await writeFile(join(root, 'odd.tf'), '--files\n')
    expect(await access.grep({ query: '--files' })).toEqual(['odd.tf:1:--files'])
    expect(await access.grep({ query: '--pre=id', include_pattern: '--pre=id' })).toEqual([])
  })

  it('says what is wrong with a pattern', async () => {
    await refused(access.grep({ query: '(' }), /The search failed: .*unclosed/s)
    await refused(access.grep({ query: 'x', include_pattern: '{' }), 'The search failed')
  })

  it('passes over what cannot be read', async () => {
    await writeFile(join(root, 'closed.tf'), 'vpc')
    await chmod(join(root, 'closed.tf'), 0o000)
    expect(await access.grep({ query: 'vpc', exclude_pattern: 'closed.tf' })).toEqual(['net/vpc.tf:1:vpc'])
  })

  it('ends with the run', async () => {
    await expect(access.grep({ query: 'x' }, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })
})

describe('survey', () => {
  it('lists every file below the root with its size, but nothing hidden, ignored or linked', async () => {
    await mkdir(join(root, '.terraform'))
    const hidden = ['backend_override.tf', 'terraform.tfstate.backup', '.terraform/x.tf', '.dot.tf']
    for (const name of ['secret-a.tf', ...hidden]) await put(name, 'not listed')
    await symlink('/etc/passwd', join(root, 'link.tf'))
    await symlink('..', join(root, 'up'))
    await writeFile(join(root, 'näme "q".tf'), 'x')
    const files = (await access.survey()).files.sort((a, b) => (a.path < b.path ? -1 : 1))
    expect(files).toEqual([
      { path: 'main.tf', bytes: 16 },
      { path: 'net/vpc.tf', bytes: 4 },
      { path: 'näme "q".tf', bytes: 1 },
    ])
  })

  it('is empty where there is no repository', async () => {
    await rm(join(folder.path, 'clone', '.git'), { recursive: true })
    expect(await access.survey()).toMatchObject({ files: [], elsewhere: { files: 0, code: 0 } })
  })
})

/** Writes files of the clone, links by their target, and adds them to the index. */
async function commitFiles(files: Record<string, string | { symlink: string }>) {
  const clone = join(root, '..')
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(clone, name, '..'), { recursive: true })
    if (typeof content === 'string') await writeFile(join(clone, name), content)
    else await symlink(content.symlink, join(clone, name))
  }
  await git_(['-C', clone, 'add', '--force', '.'])
}

const USED = {
  'infra/main.tf':
    'module "net" {\n  source = "../modules/net"\n}\n' +
    `locals {\n  policy = file("\${path.module}/../policies/one.json")\n` +
    `  all = [for name in var.names : file("../rules/\${name}.json")]\n}\n`,
  'infra/variables.tf': { symlink: '../common/variables.tf' },
  'infra/shared': { symlink: '../common' },
  'modules/net/main.tf': 'module "sub" {\n  source = "../sub"\n}\n# marker\n',
  'modules/net/templates/a.tpl': 'marker\n',
  'modules/sub/main.tf.json': JSON.stringify({
    locals: { values: `\${yamldecode(file("\${path.module}/../../values/sub.yaml"))}` },
  }),
  'modules/other/main.tf': 'marker\n',
  'values/sub.yaml': 'marker: 1\n',
  'values/other.yaml': 'marker: 2\n',
  'policies/one.json': '{"marker": 1}',
  'policies/two.json': '{"marker": 2}',
  'rules/a.json': 'marker\n',
  'common/variables.tf': 'variable "names" {} # marker\n',
  'common/notes.md': 'marker\n',
  'dev/main.tf': 'marker\n',
}

describe('what the root uses outside of it', () => {
  const READABLE = [
    '../modules/net/main.tf',
    '../modules/net/templates/a.tpl',
    '../modules/sub/main.tf.json',
    '../values/sub.yaml',
    '../policies/one.json',
    '../rules/a.json',
    '../common/variables.tf',
    'variables.tf',
    'shared/notes.md',
  ]
  const CLOSED = ['../modules/other/main.tf', '../values/other.yaml', '../policies/two.json', '../dev/main.tf']

  it('is read, and nothing else', async () => {
    await commitFiles(USED)
    for (const path of READABLE) expect(await access.read(path)).toMatch(/marker|values/)
    for (const path of [...CLOSED, '../dev/none.tf', '../outside.tf'])
      await refused(access.read(path), /is outside of the workspace and the code of the workspace does not use it/)
    await refused(access.read('../dev/main.tf'), /It uses: .*\.\.\/modules\/net\/.*\.\.\/policies\/one\.json/)
    await refused(access.read('../modules/net/none.tf'), 'File ../modules/net/none.tf does not exist')
    await refused(access.read('modules/net/main.tf'), 'There is: ../modules/net/main.tf')
  })

  it('is listed and searched, and nothing else', async () => {
    await commitFiles(USED)
    expect(await access.list('../modules/net')).toEqual(['../modules/net/main.tf', '../modules/net/templates/'])
    await refused(access.list('../modules'), 'does not use it')
    await refused(access.list('..'), 'does not use it')
    const found = (await access.grep({ query: 'marker' })).map((line) => line.split(':')[0])
    expect(found.sort()).toEqual([
      '../common/notes.md',
      '../common/variables.tf',
      '../modules/net/main.tf',
      '../modules/net/templates/a.tpl',
      '../policies/one.json',
      '../rules/a.json',
      '../values/sub.yaml',
    ])
    expect(await access.grep({ query: 'marker', include_pattern: '*.yaml' })).toEqual([
      '../values/sub.yaml:1:marker: 1',
    ])
    expect(await access.grep({ query: 'marker', exclude_pattern: '*.{yaml,tpl,json}' })).toHaveLength(3)
  })

  it('follows the code as it is now', async () => {
    await commitFiles(USED)
    await refused(access.read('../modules/other/main.tf'), 'does not use it')
    await access.write('other.tf', 'module "other" {\n  source = "../modules/other"\n}\n')
    expect(await access.read('../modules/other/main.tf')).toBe('marker\n')
  })

  it('is never changed, and the refusal says why', async () => {
    await commitFiles(USED)
    const reason = /can be read but not changed, because other roots/
    await refused(access.write('../modules/net/main.tf', 'x'), reason)
    await refused(access.replace('../modules/net/main.tf', block('# marker', 'x')), reason)
    await refused(access.remove('../modules/net/main.tf'), reason)
    await refused(access.write('shared/new.tf', 'x'), reason)
    await refused(access.write('variables.tf', 'x'), 'symbolic link and cannot be modified: others may use its target')
    for (const [name, content] of Object.entries(USED))
      if (typeof content === 'string') expect(await readFile(join(root, '..', name), 'utf8')).toBe(content)
  })

  it('holds of a module around the root the files of its folder, not what is below', async () => {
    await commitFiles({ ...USED, 'infra/main.tf': 'module "all" {\n  source = "../"\n}\n' })
    expect(await access.read('../outside.tf')).toBe('outside')
    expect(await access.list('..')).toEqual(['../.gitignore', '../common/', '../infra/', '../outside.tf'])
    await refused(access.read('../dev/main.tf'), 'does not use it')
    expect((await access.grep({ query: 'outside|marker' })).sort()).toEqual([
      '../common/notes.md:1:marker',
      '../common/variables.tf:1:variable "names" {} # marker',
      '../outside.tf:1:outside',
    ])
  })

  it('is surveyed after the root, with the numbers of what is left out', async () => {
    await commitFiles(USED)
    const { files, elsewhere, isWhole } = await access.survey()
    expect(files.map(({ path, link }) => (link ? `${path} -> ${link}` : path))).toEqual([
      'main.tf',
      'variables.tf -> ../common/variables.tf',
      '../modules/net/main.tf',
      '../modules/sub/main.tf.json',
      '../common/notes.md',
      '../common/variables.tf',
      '../policies/one.json',
      '../rules/a.json',
      '../values/sub.yaml',
      '../modules/net/templates/a.tpl',
      'net/vpc.tf',
    ])
    expect(elsewhere).toEqual({ files: 7, code: 3 })
    expect(isWhole).toBe(true)
    await put('more.tf', 'module "chosen" {\n  source = var.chosen\n}\n')
    expect((await access.survey()).isWhole).toBe(false)
  })
})

it('surveys what the engine loads before the files that git lists first', async () => {
  const many: Record<string, string> = {}
  for (let index = 0; index < 2_600; index++) many[`infra/a/${index}.md`] = 'x'
  await commitFiles({ ...many, ...USED, 'infra/z/main.tf': '', 'infra/zz.tf': 'module "z" {\n  source = "./z"\n}\n' })
  const { files, beyondLimit } = await access.survey()
  // One of the first 2,000 is the link to a folder, which is no file.
  expect(files).toHaveLength(1_999)
  expect(files.slice(0, 6).map(({ path }) => path)).toEqual([
    'main.tf',
    'variables.tf',
    'zz.tf',
    'z/main.tf',
    '../modules/net/main.tf',
    '../modules/sub/main.tf.json',
  ])
  expect(files.map(({ path }) => path)).toContain('net/vpc.tf')
  expect(files.length + beyondLimit).toBe(2_613)
})

const MAINS = ['envs/prod/main.tf', 'main.tf', 'modules/network/main.tf']
it.each([
  ['the same name in the nearest folder', 'modules/net/main.tf', MAINS],
  ['the same name before a similar one', 'net/vpc.tf', ['net/vpcs.tf', 'a/b/c/vpc.tf']],
  ['few letters before a beginning', 'modules/queue', ['modules/queue-of-jobs', 'modules/queues']],
])('names the best match first: %s', (_, path, existing) => {
  const [first, ...others] = nearPaths(path, existing)
  expect(first).toBe(existing.at(-1))
  expect(others).toHaveLength(existing.length - 1)
})

it('names nothing that has nothing to do with the path, and at most five', () => {
  expect(nearPaths('modules/net', ['modules/database', 'a/storage'])).toEqual([])
  expect(nearPaths('modules/net', ['modules/network'])).toEqual(['modules/network'])
  const nine = Array.from({ length: 9 }, (_, index) => `${index}/x.tf`)
  expect(nearPaths('x.tf', nine)).toHaveLength(5)
})
