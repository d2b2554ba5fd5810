import { type Check, check, type Tester } from '../types.ts'
import { askWith, type Policy } from './policy.ts'

const CHALLENGE = /^bearer(?:\s|$)/i

/** Returns the promises about tokens. Without a token of the service, every caller may send requests. */
export function tokenPromises(policies: readonly Policy[], token: string | null): Check[] {
  const secured = policies.filter(({ operation }) => operation.secured)
  return token === null ? [openAccess(secured)] : [...refused(secured, token), ...beforeBody(secured)]
}

function refused(policies: readonly Policy[], token: string): Check[] {
  const each = (aspect: string, promise: string, headers: (string | null)[]) =>
    check(`token.${aspect}`, promise, async (tester) => {
      for (const policy of policies) for (const authorization of headers) await expect401(tester, policy, authorization)
    })
  const reversed = token.split('').reverse().join('')
  const other = reversed === token ? `${token}x` : reversed
  return [
    each('missing', 'A request without a token is refused with 401 and the challenge Bearer', [null]),
    each('wrong', 'A request with a wrong token is refused with 401 and the challenge Bearer', [
      `Bearer ${other}`,
      'Bearer x',
      `Bearer ${swapped(token)}`,
    ]),
    each('part', 'A part of the token, or more than it, is refused with 401', [
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.slice(1)}`,
      `Bearer ${token}x`,
      `Bearer x${token}`,
      `Bearer ${token}${token}`,
    ]),
    each('scheme', 'The token in another scheme, or in none, is refused with 401', [
      `Basic ${token}`,
      `Basic ${btoa(`user:${token}`)}`,
      `Token ${token}`,
      token,
      `Bearer${token}`,
    ]),
    each('empty', 'An empty or malformed Authorization header is refused with 401', [
      '',
      'Bearer',
      'Bearer ',
      'Bearer null',
      'Bearer undefined',
      `Bearer ${token} ${token}`,
      `Bearer "${token}"`,
      ',',
    ]),
  ]
}

const swapped = (token: string) =>
  token
    .replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .replace(/^/, (start) => (/[a-z]/i.test(token) ? start : 'x'))

const askAs = (tester: Tester, policy: Policy, authorization: string | null) => {
  const { body } = policy.operation
  return askWith(tester, policy, { ...(body ? { json: policy.prepare(body.examples[0]) } : {}), authorization })
}

async function expect401(tester: Tester, policy: Policy, authorization: string | null): Promise<void> {
  const made = await askAs(tester, policy, authorization)
  if (!tester.expectStatus(made, 401, `${policy.operation.id}`)) return
  const challenge = made.headers.get('www-authenticate')
  tester.expect(
    CHALLENGE.test(challenge ?? ''),
    `${policy.operation.id}: the challenge is ${challenge === null ? 'missing' : `'${challenge}'`}`,
    made,
  )
}

function beforeBody(policies: readonly Policy[]): Check[] {
  const strict = policies.filter(({ tokenFirst, operation }) => tokenFirst && operation.body)
  if (strict.length === 0) return []
  return [
    check('token.first', 'The token is looked at before the body', async (tester) => {
      for (const policy of strict)
        for (const raw of ['{}', '{', '']) {
          const made = await askWith(tester, policy, { raw, authorization: null })
          tester.expectStatus(made, 401, `${policy.operation.id}`)
        }
    }),
  ]
}

function openAccess(policies: readonly Policy[]): Check {
  return check(
    'token.open',
    'A service without a token accepts every request, whatever Authorization it carries',
    async (tester) => {
      for (const policy of policies)
        for (const authorization of [null, 'Bearer of-some-other-service', 'Basic dXNlcjpwYXNz', '']) {
          const made = await askAs(tester, policy, authorization)
          tester.expect(made.status !== 401, `${policy.operation.id}: answered 401`, made)
        }
    },
  )
}
