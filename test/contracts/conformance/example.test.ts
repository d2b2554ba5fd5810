import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { readContract } from '../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../contracts/conformance/options.ts'
import { runConformance } from '../../../contracts/conformance/run.ts'
import { brokenOf, TOKEN } from './fakes/serve.ts'

it('the example of a replacement conforms, nothing skipped', async () => {
  const child = spawn(process.execPath, ['docs/examples/mapping-replacement.ts'], {
    env: { ...process.env, PORT: '0', PLATFORM_MAPPING_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    const exit = once(child, 'exit')
    child.kill()
    await exit
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const port = /"port":(\d+)/.exec(line.toString())?.[1]
  const contract = await readContract('mapping')
  const outcome = await runConformance({
    ...DEFAULTS,
    contract,
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    seed: 5,
    identifier: 'payments',
  })
  expect(brokenOf(outcome)).toEqual([])
  expect(outcome).toMatchObject({ conformant: true, skipped: 0 })
})
