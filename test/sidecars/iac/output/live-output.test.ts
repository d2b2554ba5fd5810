import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLiveOutput } from '../../../../sidecars/iac/output/masking.ts'
import { fakeEngine, startTestService, type TestService, temporaryFolder } from '../service.ts'

const SECRET = 'credential-0123456789-0123456789-0123456789'

async function shown(text: string, bytes: number): Promise<string> {
  const folder = await temporaryFolder()
  const files = { stdout: join(folder, 'stdout'), stderr: join(folder, 'stderr') }
  await writeFile(files.stdout, text)
  return (await readLiveOutput(files, [SECRET], bytes)).stdout
}

it('shows whole lines without credentials', async () => {
  expect(await shown(`a\nkey ${SECRET}\nhalf of a li`, 1_000)).toBe('a\nkey (sensitive value)\n')
  expect(await shown('first\nsecond\nthird\n', 10)).toBe('third\n')
})

it('shows no part of a credential, however much shorter the marks of others make the text', async () => {
  const rest = `\n${`${SECRET}\n`.repeat(4)}last\n`
  const bytes = rest.length - 3
  for (let before = 0; before < SECRET.length; before++) {
    const text = await shown(`${'x'.repeat(500)}${SECRET}${rest}`, bytes + before)
    expect(text).not.toMatch(/\d{3}/)
    expect(text.endsWith('last\n')).toBe(true)
  }
})

describe('output of a running job', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      IAC_BINARY: await fakeEngine(await temporaryFolder()),
      CLOUD_SECRET: 'very-secret-value',
    })
  })
  afterAll(() => service.close())

  it('shows whole lines of what was written so far, without credentials', async () => {
    const workspace = await service.workspace({
      'command.sh':
        'echo first; echo "key very-secret-value"; printf "half a li"; touch written; ' +
        'while [ ! -e go ]; do sleep 0.05; done; echo ne',
    })
    const job_id = await service.submit('/v1/validate', { workspace_path: workspace })
    await expect
      .poll(
        () =>
          readFile(join(workspace, 'written'), 'utf8').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true)
    const running = await service.request('GET', `/v1/jobs/${job_id}/output`)
    expect(running.body).toEqual({ job_id, status: 'running', stdout: 'first\nkey (sensitive value)\n', stderr: '' })
    await writeFile(join(workspace, 'go'), '')
    await service.finished(job_id)
    const ended = await service.request('GET', `/v1/jobs/${job_id}/output?tail_bytes=12`)
    expect(ended.body).toMatchObject({ status: 'succeeded', stdout: 'half a line\n' })
  })

  it.each([
    ['no-uuid/output', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output', 404],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=0', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=65537', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=x', 422],
  ])('answers %s with %d', async (path, status) => {
    expect((await service.request('GET', `/v1/jobs/${path}`)).status).toBe(status)
  })
})
