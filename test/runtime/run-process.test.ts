import { describe, expect, it, vi } from 'vitest'
import { type ProcessRequest, runProcess } from '../../src/runtime/run-process.ts'

const run = (script: string, changes: Partial<ProcessRequest> = {}) =>
  runProcess({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    timeoutMs: 30_000,
    ...changes,
  })

describe('a process', () => {
  it('answers code, output and what it was given', async () => {
    expect(await run('cat; echo err >&2; exit 3', { input: 'in' })).toEqual({
      code: 3,
      stdout: 'in',
      stderr: 'err\n',
      stopped: null,
    })
  })

  it('sees only the environment it is given', async () => {
    vi.stubEnv('OURS', 'not to be inherited')
    // A program that does not extend its environment, as a shell would.
    const script = ['-e', 'console.log(JSON.stringify(process.env))']
    const { code, stdout } = await run('', { file: process.execPath, args: script, env: { ONLY: 'this' } })
    vi.unstubAllEnvs()
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ONLY: 'this' })
  })

  it('is stopped with its children when it takes too long', async () => {
    // The child holds the output open, so an answer before its end proves that it is gone.
    expect(await run('sleep 600 & echo started; wait', { timeoutMs: 300 })).toMatchObject({
      code: null,
      stopped: 'timeout',
    })
  })

  it('is stopped when the run is given up, before or meanwhile', async () => {
    const controller = new AbortController()
    const running = run('sleep 60', { signal: controller.signal })
    controller.abort()
    expect(await running).toMatchObject({ stopped: 'aborted' })
    expect(await run('sleep 60', { signal: AbortSignal.abort() })).toMatchObject({ stopped: 'aborted' })
  })

  it('is stopped when it writes more than the cap, which is kept', async () => {
    const output = await run('yes', { maxOutput: 1_000 })
    expect(output).toMatchObject({ stopped: 'output', stdout: 'y\n'.repeat(500) })
  })

  it('may end without reading its input', async () => {
    expect(await run('exit 0', { input: 'x'.repeat(1_000_000) })).toMatchObject({ code: 0 })
  })

  it('that cannot be started is an error', async () => {
    await expect(run('', { file: '/no/such/program' })).rejects.toThrow('ENOENT')
  })
})
