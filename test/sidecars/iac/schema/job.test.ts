import { appendFile, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSchemaCache, indexDocument } from '../../../../sidecars/iac/schema/cache.ts'
import { readLockFile } from '../../../../sidecars/iac/schema/job.ts'
import { type Json, SCOPE, startFakeService, startTestService, temporaryFolder } from '../service.ts'

const AWS = 'registry.opentofu.org/hashicorp/aws'
const block = (name: string) => ({ version: 1, block: { attributes: { [name]: { type: 'string', required: true } } } })
const document = (types: Record<string, unknown>, data: Record<string, unknown> = {}) => ({
  format_version: '1.0',
  provider_schemas: {
    [AWS]: { provider: { version: 0, block: {} }, resource_schemas: types, data_source_schemas: data, functions: {} },
  },
})
const lockOf = (version: string) =>
  `provider "${AWS}" {\n  version     = "${version}"\n  constraints = "~> 5.0"\n  hashes = []\n}\n`
const asked = (workspace_path: string, ...resource_types: string[]) => ({ workspace_path, resource_types })
const stdout = (job: Json) => JSON.parse(job.result.stdout)

const real = await startTestService()
const fake = await startFakeService()

describe('schema jobs with a real engine', () => {
  it('answer the types that are asked for, and name the others', async () => {
    const workspace_path = await real.workspace({ 'main.tf': 'resource "terraform_data" "a" {}\n' })
    await real.run('/v1/init', { workspace_path, ...SCOPE })
    const job = await real.run('/v1/schema', {
      ...asked(workspace_path, 'terraform_data', 'aws_s3_bucket'),
      data_source_types: [],
    })
    expect(job).toMatchObject({ kind: 'schema', status: 'succeeded', result: { exit_code: 0, stderr: '' } })
    const parts = stdout(job)
    expect(parts.missing).toEqual(['aws_s3_bucket'])
    const provider = parts.providers['terraform.io/builtin/terraform']
    expect(Object.keys(provider.resource_schemas)).toEqual(['terraform_data'])
    expect(provider.resource_schemas.terraform_data.block.attributes.input).toMatchObject({ optional: true })
    expect(provider.data_source_schemas).toEqual({})
    const names = stdout(await real.run('/v1/schema', { workspace_path }))
    expect(names.providers['terraform.io/builtin/terraform']).toEqual({
      resource_types: ['terraform_data'],
      data_source_types: ['terraform_remote_state'],
    })
  })

  it('hand on what the engine says about a workspace that it cannot read', async () => {
    const workspace_path = await real.workspace({ 'main.tf': 'resource "terraform_data" {\n' })
    expect((await real.run('/v1/schema', { workspace_path })).result).toMatchObject({ exit_code: 1, stdout: '' })
  })

  it('diagnostics are the JSON of validate, valid or not', async () => {
    const workspace_path = await real.workspace({ 'main.tf': 'resource "terraform_data" "a" {\n  inputs = 1\n}\n' })
    await real.run('/v1/init', { workspace_path, ...SCOPE })
    const job = await real.run('/v1/diagnostics', { workspace_path })
    expect(job).toMatchObject({ kind: 'diagnostics', status: 'succeeded', result: { exit_code: 1 } })
    expect(stdout(job)).toMatchObject({
      valid: false,
      diagnostics: [{ summary: 'Unsupported argument', range: { filename: 'main.tf' } }],
    })
    await writeFile(join(workspace_path, 'main.tf'), '')
    expect(stdout(await real.run('/v1/diagnostics', { workspace_path }))).toMatchObject({ valid: true })
  })

  it('run no plugin that lies in the repository', async () => {
    const workspace_path = await real.workspace({ 'main.tf': '', 'terraform-provider-aws': '' })
    for (const path of ['/v1/schema', '/v1/diagnostics'])
      expect((await real.run(path, { workspace_path })).result).toMatchObject({
        exit_code: 1,
        stderr: expect.stringContaining('terraform-provider-aws'),
      })
  })

  it('are announced', async () => {
    expect((await real.request('GET', '/v1/engine')).body.additions).toEqual([
      'schema',
      'diagnostics',
      'fmt',
      'state_summary',
      'state_rm',
      'output',
      'output_from',
      'cancel',
      'plan_sha256',
      'repository',
      'state',
      'migrate_state',
      'programs_only',
      'lock',
      'plan_json',
      'validate_json',
      'module_credentials',
    ])
  })

  it.each([
    { resource_types: ['-json'] },
    { resource_types: 'aws_s3_bucket' },
    { resource_types: Array.from({ length: 65 }, (_, index) => `type_${index}`) },
    { scope_id: 'x' },
  ])('refuse %o', async (more) => {
    const workspace_path = await real.workspace()
    const answer = await real.request('POST', '/v1/schema', { json: { workspace_path, ...more } })
    expect(answer.status).toBe(422)
  })
})

describe('the documents of schemas', () => {
  const COUNTING = 'echo "$@" >> calls; cat schema.json'
  const calls = async (path: string) =>
    (await readFile(join(path, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
  const workspace = (types: Record<string, unknown>, lock: string | null, more: Record<string, string> = {}) =>
    fake.workspace({
      'command.sh': COUNTING,
      'schema.json': JSON.stringify(document(types, { aws_ami: block('owner') })),
      ...(lock === null ? {} : { '.terraform.lock.hcl': lock }),
      ...more,
    })

  it('are read once for one lock file, in whatever workspace', async () => {
    const first = await workspace({ aws_a: block('x'), aws_b: block('y') }, lockOf('5.1.0'))
    const second = await workspace({}, lockOf('5.1.0'))
    expect(stdout(await fake.run('/v1/schema', asked(first, 'aws_a')))).toEqual({
      format_version: '1.0',
      providers: { [AWS]: { version: '5.1.0', resource_schemas: { aws_a: block('x') }, data_source_schemas: {} } },
      missing: [],
      left_out: [],
    })
    const parts = stdout(await fake.run('/v1/schema', { ...asked(second, 'aws_b'), data_source_types: ['aws_ami'] }))
    expect(parts.providers[AWS]).toMatchObject({
      resource_schemas: { aws_b: block('y') },
      data_source_schemas: { aws_ami: block('owner') },
    })
    expect(await calls(first)).toEqual(['providers schema -json'])
    expect(await calls(second)).toEqual([])
  })

  it('hold ephemeral types, of providers that have some', async () => {
    const whole = document({ aws_a: block('x') })
    Object.assign(whole.provider_schemas[AWS], { ephemeral_resource_schemas: { aws_secret: block('id') } })
    const path = await workspace({}, lockOf('5.1.9'), { 'schema.json': JSON.stringify(whole) })
    const names = stdout(await fake.run('/v1/schema', { workspace_path: path }))
    expect(names.providers[AWS]).toMatchObject({ resource_types: ['aws_a'], ephemeral_types: ['aws_secret'] })
    const request = { workspace_path: path, ephemeral_types: ['aws_secret', 'aws_a'] }
    const parts = stdout(await fake.run('/v1/schema', request))
    expect(parts.providers[AWS]).toMatchObject({
      resource_schemas: {},
      ephemeral_resource_schemas: { aws_secret: block('id') },
    })
    expect(parts.missing).toEqual(['aws_a'])
  })

  it('are never those of another lock file, and without one nothing is kept', async () => {
    const old = await workspace({ aws_a: block('old') }, lockOf('5.2.0'))
    const fresh = await workspace({ aws_a: block('new') }, lockOf('5.2.1'))
    const none = await workspace({ aws_a: block('none') }, null)
    for (const [path, name] of [
      [old, 'old'],
      [fresh, 'new'],
      [none, 'none'],
      [none, 'none'],
    ] as const)
      expect(stdout(await fake.run('/v1/schema', asked(path, 'aws_a'))).providers[AWS].resource_schemas.aws_a).toEqual(
        block(name),
      )
    expect(await calls(none)).toHaveLength(2)
  })

  it('asks again for the built-in provider, which no lock file names', async () => {
    const path = await workspace({ aws_a: block('x') }, lockOf('5.3.0'))
    await fake.run('/v1/schema', asked(path, 'aws_a'))
    const both = document({ aws_a: block('x') })
    Object.assign(both.provider_schemas, {
      'terraform.io/builtin/terraform': { resource_schemas: { terraform_data: block('input') } },
    })
    await writeFile(join(path, 'schema.json'), JSON.stringify(both))
    const parts = stdout(await fake.run('/v1/schema', asked(path, 'terraform_data')))
    expect(Object.keys(parts.providers)).toEqual(['terraform.io/builtin/terraform'])
    await fake.run('/v1/schema', asked(path, 'terraform_data', 'aws_a'))
    expect(await calls(path)).toHaveLength(2)
  })

  it('of tens of megabytes give small answers', async () => {
    const types: Record<string, unknown> = {}
    const description = `braces } { ] and "quotes" \\ é ${'x'.repeat(4000)}`
    for (let index = 0; index < 5000; index++)
      types[`aws_t${index}`] = { block: { attributes: { a: { type: 'string', description } } } }
    const path = await workspace(types, lockOf('5.4.0'))
    const job = await fake.run('/v1/schema', asked(path, 'aws_t4999', 'aws_t17'))
    expect(job.result.stdout.length).toBeLessThan(10_000)
    expect(stdout(job).providers[AWS].resource_schemas).toEqual({ aws_t4999: types.aws_t4999, aws_t17: types.aws_t17 })
    expect(stdout(await fake.run('/v1/schema', { workspace_path: path })).providers[AWS].resource_types).toHaveLength(
      5000,
    )
  })

  it('larger than an answer may be are left out by name', async () => {
    const huge = { block: { attributes: { a: { description: 'x'.repeat(17 * 1024 * 1024) } } } }
    const path = await workspace({ aws_huge: huge, aws_small: block('x') }, lockOf('5.5.0'))
    const parts = stdout(await fake.run('/v1/schema', asked(path, 'aws_huge', 'aws_small')))
    expect(parts).toMatchObject({ missing: [], left_out: ['aws_huge'] })
    expect(Object.keys(parts.providers[AWS].resource_schemas)).toEqual(['aws_small'])
  })

  it.each([
    '',
    'no document',
    '{"format_version":"1.0","provider_schemas":{"a":',
    '[1]',
    '{}',
  ])('that are none are told: %s', async (text) => {
    const path = await workspace({}, lockOf(`6.0.${text.length}`), { 'schema.json': text })
    expect((await fake.run('/v1/schema', asked(path, 'aws_a'))).result).toMatchObject({ exit_code: 1, stdout: '' })
    await writeFile(join(path, 'schema.json'), JSON.stringify(document({ aws_a: block('x') })))
    expect((await fake.run('/v1/schema', asked(path, 'aws_a'))).result.exit_code).toBe(0)
  })

  it('that were damaged on disk are asked for again', async () => {
    const path = await workspace({ aws_a: block('x') }, lockOf('7.0.0'))
    await fake.run('/v1/schema', asked(path, 'aws_a'))
    const folder = join(fake.folder, 'data', 'schemas')
    for (const name of await readdir(folder)) await writeFile(join(folder, name, 'schema.json'), '')
    expect((await fake.run('/v1/schema', asked(path, 'aws_a'))).result.exit_code).toBe(0)
    expect(await calls(path)).toHaveLength(2)
  })

  it('are not answered for a link instead of a lock file', async () => {
    const path = await workspace({ aws_a: block('x') }, null)
    await appendFile(join(path, 'elsewhere'), lockOf('8.0.0'))
    await symlink(join(path, 'elsewhere'), join(path, '.terraform.lock.hcl'))
    const { result } = await fake.run('/v1/schema', asked(path, 'aws_a'))
    expect(result).toMatchObject({ exit_code: 1, stdout: '', stderr: expect.stringContaining('.terraform.lock.hcl') })
  })
})

describe('the cache', () => {
  it('keeps to its size, forgets what was used least, and tidies up', async () => {
    const folder = join(await temporaryFolder(), 'schemas')
    const cache = createSchemaCache(folder, { entries: 2, bytes: 100 })
    await cache.open()
    const store = async (key: string, size: number) => {
      const path = join(folder, '..', key)
      await writeFile(path, 'x'.repeat(size))
      await cache.store(key, path, { format_version: '1', providers: {} })
    }
    await store('a', 10)
    await store('b', 10)
    await utimes(join(folder, 'a'), 1, 1)
    await utimes(join(folder, 'b'), 2, 2)
    expect(await cache.find('a')).not.toBeNull()
    await store('c', 10)
    expect((await readdir(folder)).sort()).toEqual(['a', 'c'])
    await store('d', 95)
    expect(await readdir(folder)).toEqual(['d'])
    await store('e.tmp', 1)
    await cache.open()
    expect(await readdir(folder)).toEqual(['d'])
    await rm(folder, { recursive: true })
    expect(await cache.find('d')).toBeNull()
  })

  it('finds schemas behind what an engine prints first, by names with escapes', async () => {
    const path = join(await temporaryFolder(), 'document')
    await writeFile(
      path,
      `Warning: "odd" }\n\n${JSON.stringify(document({ 'aws_"q\\': block('x') }), null, 2)}\ntrailing { "`,
    )
    const index = await indexDocument(path)
    const [offset = 0, length = 0] = index?.providers[AWS]?.resource_schemas['aws_"q\\'] ?? []
    const text = (await readFile(path)).subarray(offset, offset + length).toString('utf8')
    expect(JSON.parse(text)).toEqual(block('x'))
  })
})

const SOURCE = 'registry.terraform.io/hashicorp/aws'

async function versions(text: string) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, '.terraform.lock.hcl'), text)
  const lock = await readLockFile(folder, { name: 'terraform', version: '1.11.4', binary: 'terraform' })
  return [...(lock?.versions ?? [])]
}

it.each(['\n  ', ' \r\n\t', '\n\n\n'])('finds the version behind blanks: %j', async (blanks) => {
  expect(await versions(`provider "${SOURCE}" {${blanks}version     = "5.1.0"\n}\n`)).toEqual([[SOURCE, '5.1.0']])
})

it('takes blanks that never end in reasonable steps', async () => {
  expect(await versions(`provider "${SOURCE}" {${'\n'.repeat(1_000_000)}`)).toEqual([])
})
