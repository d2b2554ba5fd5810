import { afterEach, expect, it, vi } from 'vitest'
import { showProgress } from '../../../../pipeline/steps/apply/run-once.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps } from '../support.ts'

const steps = startOnce(createSteps)
afterEach(() => vi.useRealTimers())

it('shows the last line of a running apply without secrets, also where the line is cut', async () => {
  const { kit } = await steps.world()
  const secret = 'password-0123456789'
  kit.secrets.add([secret])
  const lines: string[] = []
  const ended = new AbortController()
  const outputs = [`first\nterraform_data.a: Creating... ${secret}\n`, `${'x'.repeat(190)}${secret}\n`]
  const output = async () => ({ stdout: outputs.shift() ?? '', stderr: '' })
  const show = async (_: unknown, line: string) => {
    lines.push(line)
    if (lines.length === 2) ended.abort()
  }
  const context = { ...kit.run.context, iac: { ...kit.run.context.iac, output } }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const done = showProgress(
    { ...kit, run: { ...kit.run, context }, status: { ...kit.status, show } },
    'job',
    ended.signal,
  )
  await vi.advanceTimersByTimeAsync(31_000)
  await done
  expect(lines[0]).toMatch(/^terraform_data\.a: Creating\.\.\. \S/)
  expect(lines[1]).toMatch(/^x{190}/)
  expect(lines[1]?.length).toBeLessThanOrEqual(200)
  expect(lines.join()).not.toContain('password')
})
