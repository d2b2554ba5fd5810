import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Json, SCOPE, type TestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'
import { startGuarded } from './guarded.ts'

const service = startOnce(startGuarded)
const hurried = startOnce(() => startGuarded({ IAC_JOB_TIMEOUT_SECONDS: '0.2' }))

const GROUP = "the check's own appetite"
/** Far above the delays of a loaded machine, far below the seconds of an attack. */
const MAX_BLOCK_MS = 1_000
const MAX_MEMORY_MIB = 400

/** Plans these files and measures the service. Returns the job, the longest block and the growth of its memory. */
async function watch(
  of: TestService,
  files: Record<string, string>,
): Promise<{ job: Json; block: number; grown: number }> {
  const workspace_path = await of.workspace(files)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const before = process.memoryUsage().rss
  let peak = before
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  delay.enable()
  const job = await of.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
  delay.disable()
  clearInterval(look)
  return { job, block: delay.max / 1e6, grown: (peak - before) / 2 ** 20 }
}

/** Makes files of this text. */
const many = (length: number, text: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`m${index}.tf`, text]))
/** Makes a manifest of so many modules. */
const manifest = (length: number): Record<string, string> => {
  const module = (index: number) => ({ Key: `m${index}`, Source: './m', Dir: `./m${index}` })
  const Modules = Array.from({ length }, (_, index) => module(index))
  return { '.terraform/modules/modules.json': JSON.stringify({ Modules }) }
}

const MILLION = 1_000_000
const LINES = 'resource "terraform_data" "x" {\n  input = "aaaa bbbb cccc dddd eeee ffff gggg"\n}\n'
const GREEDY: [string, () => Record<string, string>][] = [
  ['a million brackets', () => ({ 'main.tf': `locals {\n  a = ${'['.repeat(MILLION)}${']'.repeat(MILLION)}\n}\n` })],
  ['a million braces', () => ({ 'main.tf': `a = ${'{'.repeat(MILLION)}` })],
  ['a million templates', () => ({ 'main.tf': `a = ${'"$\u007b'.repeat(MILLION)}` })],
  ['a million escapes', () => ({ 'main.tf': `a = "${'\\n'.repeat(MILLION)}"\n` })],
  ['a million items', () => ({ 'main.tf': `a = [${'1,'.repeat(MILLION)}]\n` })],
  ['a million blocks', () => ({ 'main.tf': 'a {}\n'.repeat(MILLION / 2) })],
  ['a million brackets in JSON', () => ({ 'main.tf.json': `{"a":${'['.repeat(MILLION)}${']'.repeat(MILLION)}}` })],
  ['a million heredocs', () => ({ 'main.tf': 'a = <<A\n'.repeat(MILLION / 3) })],
  ['40 MB of configuration in one file', () => ({ 'main.tf': LINES.repeat(500_000) })],
  ['40 MB of configuration in many files', () => many(160, LINES.repeat(3_000))],
  ['6000 files', () => many(6_000, 'locals {}\n')],
  ['a manifest of 30 MB', () => manifest(600_000)],
  ['a manifest of many modules', () => manifest(60_000)],
]
for (const [title, make] of GREEDY)
  attack(GROUP, title, async () => {
    const { job, block, grown } = await watch(service, make())
    expect(job.result).toMatchObject({ exit_code: 1, stdout: '' })
    expect(job.result.stderr).toMatch(/too large to be checked|could not be checked/)
    expect(block).toBeLessThan(MAX_BLOCK_MS)
    expect(grown).toBeLessThan(MAX_MEMORY_MIB)
    const why = job.result.stderr.split('\n').find((line: string) => /^The (check|file)/.test(line)) ?? ''
    return `${why} (loop held for ${Math.round(block)} ms)`
  })

attack(GROUP, 'a configuration that takes longer than the job may', async () => {
  const { job, block } = await watch(hurried, many(30, LINES.repeat(10_000)))
  expect(job).toMatchObject({
    status: 'failed',
    error: { status: 504, detail: 'The engine did not finish within 0.2s.' },
  })
  expect(block).toBeLessThan(MAX_BLOCK_MS)
  return job.error.detail
})
