import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMappingApp } from '../../../sidecars/mapping/main.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { type Running, serve } from '../../../src/runtime/serve.ts'
import { answering, TOKEN } from './fakes/serve.ts'

const app = createMappingApp({ token: TOKEN, catalogue: null, strict: false, log: silentLogger })
let good: Running
let wrong: Running
beforeAll(async () => {
  const options = { port: 0, hostname: '127.0.0.1' }
  good = await serve((request) => app.fetch(request), options)
  wrong = await serve(
    answering(
      (request) => app.fetch(request),
      200,
      (json) => ({ ...json, identifier: `\u001b[31m${TOKEN}` }),
    ),
    options,
  )
})
afterAll(() => Promise.all([good.close(0), wrong.close(0)]))

async function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['contracts/conformance/main.ts', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { out, err, code }
}

describe('npm run conformance', () => {
  it('reports every promise and ends with 0 for a service that keeps them', async () => {
    const { out, code } = await run([
      'mapping',
      good.url,
      '--token',
      TOKEN,
      '--seed',
      '11',
      '--only',
      'health,resolve.echo',
    ])
    expect(out).toContain('seed 11')
    expect(out).toMatch(/^passed {3}resolve\.echo +The identifier is answered verbatim \(13 exchanges\)$/m)
    expect(out).toMatch(/0 FAILED, 0 skipped\nconformant$/m)
    expect(code).toBe(0)
  })

  it(
    'shows request and answer of a broken promise, neither the token nor what steers a terminal, and ends with ' + '1',
    async () => {
      const { out, code } = await run(['mapping', wrong.url, '--only', 'resolve.echo'], { CONFORMANCE_TOKEN: TOKEN })
      expect(out).toMatch(/^FAILED {3}resolve\.echo/m)
      expect(out).toContain('> POST /v1/resolve')
      expect(out).toContain('< HTTP 200')
      expect(out).not.toContain(TOKEN)
      expect(out).not.toContain('\u001b')
      expect(code).toBe(1)
    },
  )

  it('answers one JSON object', async () => {
    const { out, code } = await run([
      'mapping',
      wrong.url,
      '--token',
      TOKEN,
      '--json',
      '--seed',
      '1',
      '--only',
      'resolve.echo',
    ])
    const outcome = JSON.parse(out)
    expect(outcome).toMatchObject({ contract: 'mapping', seed: 1, conformant: false, broken: 1 })
    expect(outcome.promises[0]).toMatchObject({
      id: 'resolve.echo',
      outcome: 'broken',
      findings: expect.arrayContaining([expect.objectContaining({ request: expect.any(String) })]),
    })
    expect(out).not.toContain(TOKEN)
    expect(code).toBe(1)
  })

  it('helps', async () => {
    const { out, code } = await run(['--help'])
    expect(out).toContain('Usage: npm run conformance')
    expect(code).toBe(0)
  })

  it.each([
    ['nothing', [], 'no contract is named'],
    ['an unknown contract', ['billing', 'http://127.0.0.1:9'], "there is no contract 'billing'"],
    ['no address', ['mapping'], 'exactly one address'],
    ['no http', ['mapping', 'ftp://example.com'], 'no http or https address'],
    ['an unknown option', ['mapping', 'http://127.0.0.1:9', '--fast'], '--fast'],
    ['a wrong seed', ['mapping', 'http://127.0.0.1:9', '--seed', 'x'], '--seed'],
    [
      'a promise that does not exist',
      ['mapping', 'http://127.0.0.1:9', '--only', 'nothing'],
      'no promise begins with nothing',
    ],
    ['nobody there', ['mapping', 'http://127.0.0.1:9'], 'cannot be reached'],
  ])('ends with 2 for %s', async (_, args, message) => {
    const { err, code } = await run(args)
    expect(err).toContain(message)
    expect(code).toBe(2)
  })

  it('ends with 2 when the service asks for a token, or for another one', async () => {
    expect(await run(['mapping', good.url])).toMatchObject({
      code: 2,
      err: expect.stringContaining('give it with --token'),
    })
    expect(await run(['mapping', good.url, '--token', 'other'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('refuses the token'),
    })
  })
})
