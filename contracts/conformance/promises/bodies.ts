import { bodiesAtLimits, type Fault, forbids, invalidBodies, type Variant, validBodies } from '../schema/variants.ts'
import { type Check, check, type Tester } from '../types.ts'
import { askWith, isRefusal, type Policy } from './policy.ts'
import { unreadablePromises } from './transport.ts'

/** Returns the promises that valid bodies are accepted and invalid ones refused; the schema yields the bodies. */
export function bodyPromises(policy: Policy): Check[] {
  const { operation, prepare } = policy
  const { body, id } = operation
  if (!body) return []
  const { schema } = body
  const refused = (aspect: string, promise: string, kind: Fault): Check[] => {
    if (!forbids(schema, kind)) return []
    return [
      check(`${id}.${aspect}`, promise, async (tester) => {
        for (const variant of invalidBodies(schema, kind, tester.seed, prepare)) await refuses(tester, policy, variant)
      }),
    ]
  }
  return [
    check(
      `${id}.accepts`,
      'Bodies that fit the schema are accepted, the examples of the contract among them',
      async (tester) => {
        const examples = body.examples.map((example): Variant => ({ what: 'an example', body: prepare(example) }))
        for (const variant of [...examples, ...validBodies(schema, tester.seed, prepare)])
          await accepts(tester, policy, variant)
      },
    ),
    check(
      `${id}.limits`,
      'Texts and lists are accepted up to their limits, which count characters (code points)',
      async (tester) => {
        const variants = bodiesAtLimits(schema, tester.seed, prepare)
        for (const variant of variants) await accepts(tester, policy, variant)
      },
    ),
    ...refused('required', 'A body without a required key is refused', 'missing'),
    ...refused('types', 'A value of another type is refused', 'types'),
    ...refused('lengths', 'Texts and lists beyond their limits are refused', 'lengths'),
    ...refused('undeclared', 'A key that is not declared is refused', 'undeclared'),
    ...refused('values', 'A value outside its enumeration, pattern or format is refused', 'values'),
    strangeTextsPromise(policy),
    ...unreadablePromises(policy),
  ]
}

async function accepts(tester: Tester, policy: Policy, { what, body }: Variant): Promise<void> {
  if (policy.blocked) tester.skip(policy.blocked)
  tester.expectStatus(await askWith(tester, policy, { json: body }), policy.understood, what)
}

async function refuses(tester: Tester, policy: Policy, { what, body }: Variant): Promise<void> {
  const made = await askWith(tester, policy, { json: body })
  // Where 404 means that something is missing, only 400, 413 and 422 show that the body was checked.
  const kept = policy.understood.includes(404) ? [400, 413, 422].includes(made.status) : isRefusal(made.status)
  tester.expect(kept || made.status === 403, `${what}: answered ${made.status} instead of refusing it with 4xx`, made)
}

const DEEP = 10_000

/** Returns the promise about texts that no schema forbids but that crash some programs. */
function strangeTextsPromise(policy: Policy): Check {
  const { operation, prepare } = policy
  return check(
    `${operation.id}.strange`,
    'Deep nesting, NUL, lone surrogates and odd numbers are accepted or refused, never a fault of the service',
    async (tester) => {
      const base = JSON.stringify(prepare(operation.body?.examples[0] ?? {}))
      const odd = ['\\u0000', '\\ud800', '\\udc00\\ud800', '\\ufeff', '\\uffff', '\\u202e', 'a\\u0000b'].flatMap(
        (text) => everyValue(base).map((replace) => replace(`"${text}"`)),
      )
      const deep = ['['.repeat(DEEP) + ']'.repeat(DEEP), '{"a":'.repeat(DEEP) + 1 + '}'.repeat(DEEP)]
      const nested = deep.flatMap((value) => [value, ...everyValue(base).map((replace) => replace(value))])
      const numbers = ['1e400', '-0', '1e-400', '123456789012345678901234567890'].flatMap((value) =>
        everyValue(base).map((replace) => replace(value)),
      )
      const twice = base.replace(/^\{/, () => `{${base.slice(1, -1)},`)
      const plain = await askWith(tester, policy, { raw: base })
      for (const raw of [...odd, ...nested, ...numbers, twice]) {
        const made = await askWith(tester, policy, { raw })
        tester.expect(
          made.status < 300 || made.status === plain.status || isRefusal(made.status),
          `answered ${made.status}`,
          made,
        )
      }
    },
  )
}

/** Returns one function per text value of the JSON document, which puts other JSON in its place. */
function everyValue(json: string): ((value: string) => string)[] {
  return [...json.matchAll(/:("(?:[^"\\]|\\.)*")/g)].map(
    ({ index, 1: value = '' }) =>
      (other) =>
        `${json.slice(0, index + 1)}${other}${json.slice(index + 1 + value.length)}`,
  )
}
