import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { formatChanges } from '../../../../pipeline/steps/generator/publish-changes.ts'
import type { Workspace } from '../../../../pipeline/workspace/workspace.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { createIacClient } from '../../../../src/services/iac/client.ts'
import type { IacClient } from '../../../../src/services/iac/contract.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { startTestService, TOKEN } from '../../../sidecars/iac/service.ts'
import { type Site, startSite } from '../../workspace/support.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)
const site = startOnce(startSite)
const service = startOnce(startTestService)

const LOOSE = 'variable "days" {\n type=number\n}\n'
const FORMATTED = 'variable "days" {\n  type = number\n}\n'

/** Makes the client of a real sidecar with a real engine. */
const realFmt = (): NonNullable<IacClient['fmt']> => {
  const settings = { token_env: 'T', token: TOKEN, timeout: 20, job_poll_interval: 0.05, job_timeout: 60 }
  const deps = { fetch: (url: string, init?: RequestInit) => fetch(url, init), log: createLogger({ write: () => {} }) }
  const client = createIacClient({ endpoint: service.url, ...settings }, deps as never)
  return client.fmt as NonNullable<IacClient['fmt']>
}

async function kitOn(files: Parameters<Site['add']>[0], fmt?: IacClient['fmt']) {
  const workspace: Workspace = await site.open(await site.add(files))
  const { kit } = await steps.world({ additions: fmt === undefined ? {} : { fmt } })
  kit.run.workspace = workspace
  kit.run.context.config = { ...kit.run.context.config, git: site.config.git, paths: site.config.paths }
  const write = (path: string, text: string) => writeFile(join(workspace.iacRoot, path), text)
  const read = (path: string) => readFile(join(workspace.iacRoot, path), 'utf8')
  return { kit, workspace, write, read }
}

it('formats new files, and changed ones that were formatted before', async () => {
  const { kit, write, read } = await kitOn(
    { 'good.tf': FORMATTED, 'bad.tf': LOOSE, 'untouched.tf': LOOSE, 'note.md': 'a' },
    realFmt(),
  )
  await write('good.tf', `${FORMATTED}output "x" {\nvalue=1\n}\n`)
  await write('bad.tf', `${LOOSE}output "y" {\nvalue=1\n}\n`)
  await write('new.tf', LOOSE)
  await write('prod.tfvars', 'days   =7\n')
  await write('broken.tf', 'resource {{\n  a=1\n')
  await write('note.md', 'a    =1')
  expect(await formatChanges(kit)).toEqual(['good.tf', 'new.tf', 'prod.tfvars'])
  expect(await read('good.tf')).toBe(`${FORMATTED}output "x" {\n  value = 1\n}\n`)
  expect(await read('bad.tf')).toBe(`${LOOSE}output "y" {\nvalue=1\n}\n`)
  expect(await read('untouched.tf')).toBe(LOOSE)
  expect(await read('new.tf')).toBe(FORMATTED)
  expect(await read('prod.tfvars')).toBe('days = 7\n')
  expect(await read('broken.tf')).toBe('resource {{\n  a=1\n')
  expect(await read('note.md')).toBe('a    =1')
})

it('formats a file that the session committed with a syntax error, once it is right', async () => {
  const { kit, workspace, write, read } = await kitOn({ 'main.tf': FORMATTED }, realFmt())
  await write('new.tf', 'variable "a" {\n type=\n}\n')
  await formatChanges(kit)
  await workspace.commitAndPush()
  await write('new.tf', 'variable "a" {\n type=string\n}\n')
  await formatChanges(kit)
  expect(await read('new.tf')).toBe('variable "a" {\n  type = string\n}\n')
})

it('reads and writes nothing through links', async () => {
  const asked: string[] = []
  const { kit, workspace, write } = await kitOn({ 'main.tf': FORMATTED, 'net/vpc.tf': FORMATTED }, async (_, texts) => {
    asked.push(...texts.map(({ text }) => text))
    return texts.map(() => 'formatted')
  })
  const outside = join(site.folder, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'vpc.tf'), 'secret')
  await rm(join(workspace.iacRoot, 'net'), { recursive: true })
  await symlink(outside, join(workspace.iacRoot, 'net'))
  await rm(join(workspace.iacRoot, 'main.tf'))
  await symlink(join(outside, 'vpc.tf'), join(workspace.iacRoot, 'main.tf'))
  await symlink(join(outside, 'vpc.tf'), join(workspace.iacRoot, 'new.tf'))
  await write('real.tf', 'x')
  await formatChanges(kit)
  expect(asked).toEqual(['x'])
  expect(await readFile(join(outside, 'vpc.tf'), 'utf8')).toBe('secret')
  expect((await lstat(join(workspace.iacRoot, 'main.tf'))).isSymbolicLink()).toBe(true)
})

it('asks for at most 256 texts at a time', async () => {
  const sizes: number[] = []
  const { kit, write, read } = await kitOn({ 'main.tf': FORMATTED }, async (_, texts) => {
    sizes.push(texts.length)
    return texts.map(({ text }) => `${text}!`)
  })
  for (let count = 0; count < 260; count++) await write(`f${count}.tf`, `${count}`)
  expect(await formatChanges(kit)).toHaveLength(260)
  expect(sizes).toEqual([256, 4])
  expect(await read('f0.tf')).toBe('0!')
  expect(await read('f259.tf')).toBe('259!')
})

it.each<[string, IacClient['fmt'] | undefined]>([
  ['offers no formatting', undefined],
  ['answers nothing', async () => null],
  ['fails', () => Promise.reject(new Error('broken'))],
])('leaves the files as they are when the service %s', async (_, fmt) => {
  const { kit, write, read } = await kitOn({ 'main.tf': FORMATTED }, fmt)
  await write('new.tf', LOOSE)
  expect(await formatChanges(kit)).toEqual([])
  expect(await read('new.tf')).toBe(LOOSE)
})
