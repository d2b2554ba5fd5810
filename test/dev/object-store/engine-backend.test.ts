import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startObjectStore } from '../../../dev/object-store.ts'
import type { Running } from '../../../dev/server.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const run = promisify(execFile)
const folder = temporaryFolder()
let store: Running
const client = new AwsClient({
  accessKeyId: 'testkey',
  secretAccessKey: 'testsecret',
  service: 's3',
  region: 'us-east-1',
  retries: 0,
})

beforeAll(async () => {
  store = await startObjectStore({ access_key: 'testkey', secret_key: 'testsecret' })
  await client.fetch(`${store.url}/states`, { method: 'PUT' })
})
afterAll(() => store.close())

const engine = async (...args: string[]) => {
  const env = { PATH: process.env.PATH, HOME: folder, TF_CLI_CONFIG_FILE: '/dev/null', CHECKPOINT_DISABLE: '1' }
  const [command = '', ...rest] = args
  return run(await engineOnPath(), [command, '-no-color', ...rest], { cwd: folder, env })
}

const configuration = (skip_checksum: boolean, size: number) => `
terraform {
  backend "s3" {
    bucket                      = "states"
    key                         = "project/terraform.tfstate"
    region                      = "us-east-1"
    access_key                  = "testkey"
    secret_key                  = "testsecret"
    endpoints                   = { s3 = "${store.url}" }
    use_path_style              = true
    skip_credentials_validation = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_s3_checksum            = ${skip_checksum}
    use_lockfile                = true
  }
}
resource "terraform_data" "one" {
  input = { text = sensitive(join("", [for n in range(${size}) : format("%010000d", n)])) }
}
`

test.each([
  ['without checksums, as the platform writes it', true, 1],
  ['with the trailing checksums of its client', false, 2],
  ['with a state larger than one part', true, 700],
])('the engine keeps its state here %s', async (_, skip_checksum, size) => {
  await writeFile(join(folder, 'main.tf'), configuration(skip_checksum, size))
  await engine('init', '-input=false', '-reconfigure')
  await engine('apply', '-input=false', '-auto-approve')
  const state = await client.fetch(`${store.url}/states/project/terraform.tfstate`)
  expect(state.status).toBe(200)
  const { resources } = (await state.json()) as { resources: { name: string }[] }
  expect(resources.map(({ name }) => name)).toEqual(['one'])
  expect((await client.fetch(`${store.url}/states/project/terraform.tfstate.tflock`)).status).toBe(404)
})

test('a lock that somebody holds stops the engine, and releasing it lets it go on', async () => {
  const lock = `${store.url}/states/project/terraform.tfstate.tflock`
  const info = {
    ID: 'someone',
    Operation: 'OperationTypeApply',
    Info: '',
    Who: 'a colleague',
    Version: '1',
    Created: new Date(),
    Path: '',
  }
  await client.fetch(lock, { method: 'PUT', body: JSON.stringify(info) })
  await expect(engine('plan', '-input=false')).rejects.toThrow(
    /Error acquiring the state lock[\s\S]*PreconditionFailed/,
  )
  await client.fetch(lock, { method: 'DELETE' })
  await expect(engine('plan', '-input=false')).resolves.toMatchObject({ stdout: expect.stringContaining('No changes') })
})

test('workspaces are listed and deleted', async () => {
  const env = { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null' }
  const workspace = async (...args: string[]) =>
    (await run(await engineOnPath(), ['workspace', ...args], { cwd: folder, env })).stdout
  await workspace('new', 'side')
  expect(await workspace('list')).toMatch(/default\s+\* side/)
  await workspace('select', 'default')
  await workspace('delete', 'side')
  expect(await workspace('list')).not.toContain('side')
})
