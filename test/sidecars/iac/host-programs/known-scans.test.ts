import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { checkHostPrograms } from '../../../../sidecars/iac/host-programs/check.ts'
import { SMALL } from '../../../../sidecars/iac/host-programs/findings.ts'
import { createKnownScans, type KnownScans } from '../../../../sidecars/iac/host-programs/known-scans.ts'
import { temporaryFolder } from '../../../helpers/folder.ts'

const threads = vi.hoisted(() => ({ started: 0 }))
vi.mock('node:worker_threads', async (actual) => {
  const original = await actual<typeof import('node:worker_threads')>()
  class Counted extends original.Worker {
    constructor(...given: ConstructorParameters<typeof original.Worker>) {
      super(...given)
      threads.started++
    }
  }
  return { ...original, Worker: Counted }
})

const folder = temporaryFolder()
const PROGRAM = 'data "external" "x" {\n  program = ["sh"]\n}\n'
const harmless = (bytes: number) => {
  const block = (index: number) => `resource "terraform_data" "r${index}" {\n  input = "${'x'.repeat(200)}"\n}\n`
  return Array.from({ length: Math.ceil(bytes / 240) }, (_, index) => block(index)).join('')
}
const LARGE = harmless(SMALL.fileBytes * 2)

let known: KnownScans
beforeEach(() => {
  known = createKnownScans()
  threads.started = 0
})

async function makeWorkspace(main: string): Promise<string> {
  const workspace = join(folder, crypto.randomUUID())
  await mkdir(workspace)
  await writeFile(join(workspace, '.platform-workspace'), '')
  await writeFile(join(workspace, 'main.tf'), main)
  return workspace
}

const check = async (workspace: string, more: object = {}) => {
  const options = {
    ...{ env: {}, signal: new AbortController().signal, timeoutMs: 60_000, overrideFilename: 'backend_override.tf' },
    ...{ overrideSha256: null, migrates: false, backendConfig: '', providerFolders: [], allowedHosts: [] },
    ...{ initialised: false, sandboxed: true, allowed: [], repository: undefined, known },
  }
  return (await checkHostPrograms('plan', workspace, undefined, { ...options, ...more }))?.text ?? null
}

test('a large file is scanned once, in a thread, and judged each time', async () => {
  const fine = await makeWorkspace(LARGE)
  const bad = await makeWorkspace(LARGE + PROGRAM)
  for (let turn = 0; turn < 3; turn++) {
    expect(await check(fine)).toBeNull()
    expect(await check(bad)).toContain('data "external"')
  }
  expect(threads.started).toBe(2)
})

test('a changed file is scanned again', async () => {
  const workspace = await makeWorkspace(LARGE)
  expect(await check(workspace)).toBeNull()
  await writeFile(join(workspace, 'main.tf'), LARGE + PROGRAM)
  expect(await check(workspace)).toContain('data "external"')
  await writeFile(join(workspace, 'main.tf'), LARGE)
  expect(await check(workspace)).toBeNull()
  expect(threads.started).toBe(2)
})

test('the place of a file counts: what an operator allows, and where a path leads', async () => {
  const backend = 'terraform {\n  backend "http" {\n    address = "http://10.0.0.7/state"\n  }\n}\n'
  const workspace = await makeWorkspace(LARGE + backend)
  expect(await check(workspace)).toContain('backend "http"')
  expect(await check(workspace, { allowedHosts: ['10.0.0.7'] })).toBeNull()
  expect(await check(workspace)).toContain('backend "http"')
  const inFolder = join(workspace, 'deep')
  await mkdir(inFolder)
  const reading = `${LARGE}locals {\n  a = file("../../secret")\n}\n`
  await writeFile(join(inFolder, 'main.tf'), reading)
  await writeFile(join(workspace, 'main.tf'), reading)
  const both = [await check(inFolder), await check(workspace)]
  expect(both[0]).not.toBeNull()
  expect(both[1]).not.toBeNull()
})

test('small files are not kept, and neither are scans that found much', async () => {
  await check(await makeWorkspace(harmless(1_000)))
  expect(known.entries()).toEqual([])
  await check(await makeWorkspace(LARGE + Array.from({ length: 30 }, () => PROGRAM).join('')))
  expect(known.entries()).toEqual([])
  await check(await makeWorkspace(harmless(10_000)))
  expect(known.entries()).toHaveLength(1)
})
