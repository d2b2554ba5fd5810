import assert from 'node:assert/strict'
import { createPinnedFetch } from '../../../src/runtime/fetch.ts'

/**
 * Run by each runtime with `<port> <authority>` of a server on this machine whose certificate names localhost. Exits
 * with 0 if connections go to the given addresses and nowhere else.
 */
const [port, caPem = ''] = process.argv.slice(2)
const open = createPinnedFetch({ caPem, trusted: () => true })

async function ask(name: string, addresses: string[]): Promise<string> {
  const url = new URL(`https://${name}:${port}/`)
  const answer = await open(url, addresses)(url, { signal: AbortSignal.timeout(10_000) })
  return answer.text()
}

assert.equal(await ask('localhost', ['127.0.0.1']), 'reached', 'the address is used')
assert.equal(await ask('localhost', ['127.0.0.9', '127.0.0.1']), 'reached', 'the second address is tried')
await assert.rejects(ask('localhost', ['127.0.0.9']), 'the name is not looked up again')
await assert.rejects(ask('other.pinned.test', ['127.0.0.1']), /./, 'the certificate must fit the name')
process.exit(0)
