import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { startTestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'
import { BOXED, HAS_SANDBOX } from './sandboxed.ts'

const GROUP = 'formatting code'
const LOOSE = 'variable "days" {\n type=number\n}\n'
const service = startOnce(() => startTestService(HAS_SANDBOX ? BOXED : {}))

/** Bodies that try to name a file on the disk. */
const NAMED: [title: string, body: (outside: string) => object][] = [
  ['a path outside of the workspace', () => ({ files: ['../outside/secret.tf'] })],
  ['an absolute path', (outside) => ({ files: [join(outside, 'secret.tf')] })],
  ['an option as a name', () => ({ files: ['-recursive'] })],
  ['a directory', () => ({ files: ['.'] })],
  ['a path beside a text', () => ({ texts: [{ form: 'tf', text: LOOSE, path: '../outside/secret.tf' }] })],
  ['a path as the form of a text', () => ({ texts: [{ form: 'tf/../../../outside/secret.tf', text: LOOSE }] })],
]
for (const [title, body] of NAMED)
  attack(GROUP, title, async () => {
    const outside = join(service.folder, 'outside')
    await mkdir(outside, { recursive: true })
    await writeFile(join(outside, 'secret.tf'), LOOSE)
    const workspace_path = await service.workspace({ 'main.tf': LOOSE })
    const answer = await service.request('POST', '/v1/fmt', { json: { workspace_path, ...body(outside) } })
    expect(answer.status).toBe(422)
    expect(await readFile(join(outside, 'secret.tf'), 'utf8')).toBe(LOOSE)
    expect(await readFile(join(workspace_path, 'main.tf'), 'utf8')).toBe(LOOSE)
    return `422: ${answer.body.detail}`
  })

attack(GROUP, 'links in the workspace under the names of the engine files', async () => {
  const outside = join(service.folder, 'linked.tf')
  await writeFile(outside, LOOSE)
  const workspace_path = await service.workspace()
  for (const name of ['0.tf', 'main.tf']) await symlink(outside, join(workspace_path, name))
  const owner = (await stat(workspace_path)).uid
  const job = await service.run('/v1/fmt', { workspace_path, texts: [{ form: 'tf', text: LOOSE }] })
  expect(JSON.parse(job.result.stdout).texts).toEqual(['variable "days" {\n  type = number\n}\n'])
  expect(await readFile(outside, 'utf8')).toBe(LOOSE)
  expect((await stat(workspace_path)).uid).toBe(owner)
  expect(await readdir(join(service.folder, 'data', 'format'))).toEqual([])
  return 'the engine formats copies in a folder of the service; the workspace is not opened'
})

attack(GROUP, 'too many and too large texts', async () => {
  const workspace_path = await service.workspace()
  const send = (texts: object[]) => service.request('POST', '/v1/fmt', { json: { workspace_path, texts } })
  const many = await send(Array.from({ length: 257 }, () => ({ form: 'tf', text: '' })))
  const long = await send([{ form: 'tf', text: 'x'.repeat(1_000_001) }])
  const large = await send(Array.from({ length: 9 }, () => ({ form: 'tf', text: 'x'.repeat(999_999) })))
  expect([many.status, long.status, large.status]).toEqual([422, 422, 413])
  return '256 texts, 1,000,000 characters each, 8 MiB together'
})
