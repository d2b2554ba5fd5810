import type { Contract, Operation } from '../document.ts'
import { rightAuthorization } from '../http/exchange.ts'
import { type Check, check, type Exchange, NoAnswer, type Tester } from '../types.ts'
import { askWith, isRefusal, type Policy } from './policy.ts'

const bytes = (...values: number[]) => new Uint8Array(values)

/** Returns the promises about bodies that are no JSON. */
export function unreadablePromises(policy: Policy): Check[] {
  const { operation, prepare } = policy
  const { id, body } = operation
  if (!body) return []
  const valid = () => JSON.stringify(prepare(body.examples[0]))
  const refuse = async (
    tester: Tester,
    what: string,
    raw: string | Uint8Array<ArrayBuffer>,
    contentType: string | null = 'application/json',
  ) => {
    const made = await askWith(tester, policy, { raw, content_type: contentType })
    tester.expectStatus(made, [400, 422, 413, 415], what)
  }
  return [
    check(
      `${id}.malformed`,
      'A body that is no JSON is refused with 400 or 422, a broken encoding included',
      async (tester) => {
        const text = valid()
        await refuse(tester, 'no body', '')
        for (const cut of [
          '{',
          '{"',
          text.slice(0, -1),
          `${text}}`,
          `${text.slice(0, -1)},}`,
          text.replaceAll('"', "'"),
          'null null',
          'NaN',
          'undefined',
          '\0',
          '<a/>',
          'a=b',
        ])
          await refuse(tester, `malformed JSON ${JSON.stringify(cut.slice(0, 40))}`, cut)
        const encoded = new TextEncoder().encode(text)
        const broken = new Uint8Array(encoded)
        broken[text.lastIndexOf('"') - 1] = 0xff
        await refuse(tester, 'a byte that is no UTF-8 inside a text', broken)
        for (const start of [
          bytes(0xff, 0xfe),
          bytes(0xc3, 0x28),
          bytes(0xed, 0xa0, 0x80),
          bytes(0xf8, 0x88, 0x80, 0x80, 0x80),
        ])
          await refuse(
            tester,
            `bytes that are no UTF-8: ${[...start].map((byte) => byte.toString(16)).join(' ')}`,
            start,
          )
        const wide = new Uint8Array(text.length * 2)
        for (let index = 0; index < text.length; index++) wide[index * 2] = text.charCodeAt(index)
        await refuse(tester, 'UTF-16', wide)
      },
    ),
    check(
      `${id}.content-type`,
      'A body without a content type, or with another one, is read as JSON or refused with 4xx, never a ' +
        'fault of the service',
      async (tester) => {
        for (const contentType of [
          null,
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'application/xml',
          'rubbish',
          'application/json; charset=klingon',
        ]) {
          const made = await askWith(tester, policy, { raw: valid(), content_type: contentType })
          tester.expect(
            isRefusal(made.status) || policy.understood.includes(made.status),
            `${contentType ?? 'no content type'}: answered ${made.status}`,
            made,
          )
        }
      },
    ),
    check(`${id}.chunked`, 'A body sent in chunks, without its length, is read like any other', async (tester) => {
      if (policy.blocked) tester.skip(policy.blocked)
      const plain = await askWith(tester, policy, { raw: valid() })
      const { status } = await tester.raw(chunkedRequest(tester, policy, plain.path, valid()))
      tester.expect(status === plain.status, `answered ${status ?? 'nothing'} instead of ${plain.status}`)
    }),
    check(
      `${id}.huge`,
      'A huge body is refused or its connection closed, and the service still answers',
      async (tester) => {
        const key =
          Object.keys(body.schema.properties ?? {}).find((each) => body.schema.required?.includes(each)) ?? 'text'
        const huge = JSON.stringify({ ...JSON.parse(valid()), [key]: 'x'.repeat(16 * 1024 * 1024) })
        const made = await orClosed(askWith(tester, policy, { raw: huge }))
        if (made) tester.expect(isRefusal(made.status), `16 MiB: answered ${made.status}`, made)
        await stillAnswers(tester)
      },
    ),
  ]
}

/** Returns the promises about malformed HTTP requests. */
export function transportPromises(operations: readonly Operation[]): Check[] {
  const survives = (aspect: string, promise: string, run: Check['run']) =>
    check(`transport.${aspect}`, promise, async (tester) => {
      await run(tester)
      await stillAnswers(tester)
    })
  const post = operations.find(({ method }) => method === 'POST')?.path.replace(/\{\w+\}/g, 'x') ?? '/'
  return [
    survives('method', 'A method that a path does not have is refused with 4xx', async (tester) => {
      for (const path of new Set(operations.map((each) => each.path)))
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'REPORT']) {
          if (operations.some((each) => each.path === path && each.method === method)) continue
          if (operations.some((each) => each.path === path && each.optional)) continue
          const made = await tester.send(
            method,
            path.replace(/\{\w+\}/g, 'conformance'),
            method === 'GET' ? {} : { raw: '{}' },
          )
          const preflight = method === 'OPTIONS' && made.status < 300
          tester.expect(
            preflight || isRefusal(made.status) || made.status === 501,
            `${method} ${path}: answered ${made.status}`,
            made,
          )
        }
    }),
    survives('path', 'A path that the contract does not have is refused with 4xx', async (tester) => {
      for (const path of [
        '/',
        '/v1',
        '/v1/',
        '/v1/nothing-here',
        `${post}/nothing-here`,
        '/v2/check',
        '/v1/%00',
        '/v1/%ff',
        '/v1/..%2f..%2fetc%2fpasswd',
        '/v1/%E0%A4%A',
      ]) {
        const made = await tester.send('GET', path)
        const redirected = made.status >= 300 && made.status < 400
        const page = path === '/' && made.status === 200
        tester.expect(isRefusal(made.status) || redirected || page, `GET ${path}: answered ${made.status}`, made)
      }
    }),
    survives(
      'long',
      'Over-long headers and paths are refused, ignored or cut off, never a fault of the service',
      async (tester) => {
        const long = 'x'.repeat(100 * 1024)
        for (const call of [
          () => tester.send('GET', '/healthz', { headers: { 'x-long': long } }),
          () => tester.send('GET', `/v1/${long}`),
          () => tester.send('GET', `/healthz?${long}`),
        ]) {
          const made = await orClosed(call())
          if (made) tester.expect(made.status < 500, `answered ${made.status}`, made)
        }
      },
    ),
    survives('rubbish', 'What is no HTTP is refused or cut off, and the service still answers', async (tester) => {
      const { host, target } = addressOf(tester, post)
      for (const lines of [
        ['RUBBISH', '', ''],
        ['\0\0\0\0', '', ''],
        [`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Content-Length: -1', '', ''],
        [`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Content-Length: 5', 'Content-Length: 6', '', '{}'],
        [`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Transfer-Encoding: chunked', '', 'zz', '{}', ''],
      ]) {
        const { status } = await tester.raw(lines)
        tester.expect(status === null || isRefusal(status), `${JSON.stringify(lines[0])}: answered ${status}`)
      }
    }),
    survives('cut', 'A connection that ends in the middle of a body harms no other request', async (tester) => {
      const head = headOf(tester, 'POST', post)
      for (let index = 0; index < 5; index++) {
        await tester.raw([...head, 'Content-Length: 1000', '', '{"ident'], { cut: true })
        await tester.raw([...head, 'Transfer-Encoding: chunked', '', '7', '{"ident'], { cut: true })
        await tester.raw(head, { cut: true })
      }
    }),
  ]
}

async function orClosed(asked: Promise<Exchange>): Promise<Exchange | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NoAnswer) return null
    throw error
  }
}

async function stillAnswers(tester: Tester): Promise<void> {
  const made = await tester.send('GET', '/healthz')
  tester.expect(made.status === 200, `afterwards /healthz answered ${made.status}`, made)
}

/** Renders a request whose body comes in two chunks. */
function chunkedRequest(tester: Tester, { call, operation }: Policy, path: string, body: string): string[] {
  const bytes = [...new TextEncoder().encode(body)].map((byte) => String.fromCharCode(byte))
  const cut = 1 + (tester.seed % (bytes.length - 1))
  const chunks = [bytes.slice(0, cut), bytes.slice(cut)].flatMap((part) => [part.length.toString(16), part.join('')])
  return [
    ...headOf(tester, operation.method, path),
    ...Object.entries(call.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'Transfer-Encoding: chunked',
    'Connection: close',
    '',
    ...chunks,
    '0',
    '',
    '',
  ]
}

/** Returns the target of the request line and its `Host` header. The base address may have its own path. */
function addressOf(tester: Tester, path: string): { host: string; target: string } {
  const { host, pathname } = new URL(tester.options.url)
  return { host, target: `${pathname.replace(/\/$/, '')}${path}` }
}

/** Returns the request line of a request with a JSON body and its first headers, the token among them. */
function headOf(tester: Tester, method: string, path: string): string[] {
  const { host, target } = addressOf(tester, path)
  const authorization = rightAuthorization(tester.options)
  return [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    ...(authorization === null ? [] : [`Authorization: ${authorization}`]),
  ]
}

/** Returns the promises about `/healthz`, which every sidecar has. */
export function healthPromises(contract: Contract): Check[] {
  const health = contract.operations.find(({ path }) => path === '/healthz')
  if (!health) throw new Error('the contract has no /healthz')
  return [
    check('health.alive', '`GET /healthz` answers 200 {"status": "ok"}', async (tester) => {
      const made = await tester.ask(health)
      tester.expectStatus(made, 200)
      tester.expect(JSON.stringify(made.json) === '{"status":"ok"}', 'the body is another one', made)
    }),
    check('health.open', '`GET /healthz` needs no token and minds none', async (tester) => {
      for (const authorization of [null, 'Bearer wrong', 'Basic dXNlcjpwYXNz', '']) {
        const made = await tester.ask(health, { authorization })
        tester.expectStatus(made, 200)
      }
    }),
  ]
}
