import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { useFolder } from '../helpers/folder.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const folder = useFolder(beforeEach)

async function lint(arguments_: string[], env: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, ['dev/lint-prompts.ts', ...arguments_], {
    cwd: project,
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error) => ({ code: error.code, stdout: String(error.stdout), stderr: String(error.stderr) }),
  )
}

beforeEach(async () => {
  for (const scope of ['general', 'oci'])
    await cp(join(project, 'src/prompts/seed', scope), join(folder.path, scope), { recursive: true })
})

describe('prompt lint on the command line', () => {
  test('a folder with some clouds is whole without the others', async () => {
    expect(await lint([folder.path])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ prompts, 0 findings\n$/),
    })
  })

  test('findings name file and line, and the schema is asked where there is one', async () => {
    await mkdir(join(folder.path, 'oci/resources'), { recursive: true })
    await writeFile(join(folder.path, 'oci/resources/extra.yaml'), 'body: |\n  # Extra (`oci_extra_thing`)\n\n  TODO\n')
    const schema = join(folder.path, 'schema.json')
    await writeFile(
      schema,
      JSON.stringify({
        provider_schemas: { oci: { resource_schemas: { oci_core_vcn: { block: { attributes: {} } } } } },
      }),
    )
    const { code, stdout } = await lint([folder.path], { PLATFORM_PROVIDER_SCHEMA: schema })
    expect(code).toBe(1)
    expect(stdout).toContain('oci/resources/extra.yaml, line 3 of its body: is unfinished (placeholder)\n')
    expect(stdout).toContain('oci/guidelines/resources_list.yaml: does not list extra (catalogue)\n')
    expect(stdout).toMatch(
      /oci\/resources\/vcn\.yaml, line \d+ of its body: oci_core_vcn\.cidr_blocks does not exist \(schema\)/,
    )
  })

  test('of several schemas each is asked, in the version that the lock file beside it tells', async () => {
    const files = await Promise.all(
      ['7.32.0', '6.37.0'].map(async (version) => {
        const own = join(folder.path, 'schemas', version)
        await mkdir(own, { recursive: true })
        await writeFile(join(own, 'schema.json'), JSON.stringify({ provider_schemas: {} }))
        const lock = `provider "registry.terraform.io/oracle/oci" {\n  version = "${version}"\n}\n`
        await writeFile(join(own, '.terraform.lock.hcl'), lock)
        return join(own, 'schema.json')
      }),
    )
    const { stdout } = await lint([folder.path], { PLATFORM_PROVIDER_SCHEMA: files.join(',') })
    expect(stdout).toMatch(
      /^oci\/guidelines\/resource_creation\.yaml: is not written for oracle\/oci 6\.37\.0, whose schema is given \(versions\)\n\d+ prompts, 1 findings\n$/,
    )
  })

  test('what cannot be read is told, without findings', async () => {
    await writeFile(join(folder.path, 'oci/resources/extra.yaml'), 'body: [')
    expect(await lint([folder.path])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Invalid prompt file oci/resources/extra.yaml; it is not valid YAML'),
    })
    expect(await lint([join(folder.path, 'missing')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The prompts could not be read: '),
    })
  })

  test('--help', async () => {
    expect(await lint(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('npm run lint:prompts') })
  })
})
