import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { SCOPE, startTestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'
import { BOXED, HAS_SANDBOX } from './sandboxed.ts'

const service = startOnce(() => startTestService({ ...(HAS_SANDBOX ? BOXED : {}), IAC_ALLOW_HOST_PROGRAMS: 'true' }))

const FOLDERS: [title: string, path: () => string][] = [
  ['the root of the disk', () => '/'],
  ['the system', () => '/usr'],
  ['a folder of the system', () => '/usr/share'],
  ['processes', () => '/proc/self'],
  ['the temporary folder of everybody', () => '/tmp'],
  ['the data folder of the service', () => join(service.folder, 'data')],
  ['a folder that holds the data folder', () => service.folder],
]
for (const [title, path] of FOLDERS)
  attack('folders that are no workspace', title, async () => {
    const workspace_path = path()
    const owner = (await stat(workspace_path)).uid
    const { status, body } = await service.request('POST', '/v1/init', { json: { workspace_path, ...SCOPE } })
    expect([status, body.job_id]).toEqual([404, undefined])
    expect((await stat(workspace_path)).uid).toBe(owner)
    return `${body.title}: ${body.detail}`
  })
