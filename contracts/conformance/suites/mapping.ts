import { bodyPromises } from '../promises/bodies.ts'
import { policyFor } from '../promises/policy.ts'
import { tokenPromises } from '../promises/token.ts'
import { healthPromises, transportPromises } from '../promises/transport.ts'
import { isRecord } from '../schema/schema.ts'
import { type Check, check, type Options, type Tester } from '../types.ts'

const NAMES = [
  'payments',
  'https://git.example.com/Team/App.git',
  ' spaced  out ',
  'naïve/мир/漢字/😀',
  'e\u0301 is not \u00e9',
  '__proto__',
  'constructor',
  'null',
  '../../etc/passwd',
  '%2e%2e%2f',
  "'; DROP TABLE mappings; --",
  'line\nbreak\ttab',
  'x'.repeat(1024),
] as const

/** Returns the promises of `contracts/mapping.v1.yaml`. */
export function mappingSuite({ contract, token, identifier }: Options): Check[] {
  const resolve = contract.operation('resolve')
  const policy = policyFor(resolve, [200, 404, 502])
  const names = identifier === null ? NAMES : [identifier, ...NAMES]
  const resolveKnown = async (tester: Tester, json: object) => {
    const made = await tester.ask(resolve, { json })
    return made.status === 200 && isRecord(made.json) ? { made, body: made.json } : null
  }
  const nothingKnown = (tester: Tester) =>
    tester.skip('the catalogue holds none of the identifiers asked for: name one with --identifier')

  return [
    ...healthPromises(contract),
    ...tokenPromises([policy], token),
    ...bodyPromises(policy),
    check('resolve.echo', 'The identifier is answered verbatim', async (tester) => {
      const answers = []
      for (const name of names) answers.push({ name, found: await resolveKnown(tester, { identifier: name }) })
      for (const { name, found } of answers)
        if (found)
          tester.expect(
            found.body.identifier === name,
            `${JSON.stringify(name)} came back as ${JSON.stringify(found.body.identifier)}`,
            found.made,
          )
      if (answers.every(({ found }) => found === null)) nothingKnown(tester)
    }),
    check('resolve.nulls', 'What is not known is null, not left out', async (tester) => {
      let any = false
      for (const name of names)
        for (const engineProvider of [undefined, null, 'aws', 'kubernetes']) {
          const mapping = await resolveKnown(tester, {
            identifier: name,
            ...(engineProvider === undefined ? {} : { engine_provider: engineProvider }),
          })
          if (!mapping) continue
          any = true
          for (const key of ['engine_provider', 'scope_id'])
            tester.expect(Object.hasOwn(mapping.body, key), `${key} is left out`, mapping.made)
        }
      if (!any) nothingKnown(tester)
    }),
    check('resolve.stable', 'The same question gets the same answer', async (tester) => {
      for (const name of names.slice(0, 3)) {
        const [first, second] = [
          await tester.ask(resolve, { json: { identifier: name } }),
          await tester.ask(resolve, { json: { identifier: name } }),
        ]
        tester.expect(
          first.status === second.status && (first.status !== 200 || first.text === second.text),
          'the second answer differs',
          second,
        )
      }
    }),
    check('resolve.parallel', 'Questions at the same time get the answers to themselves', async (tester) => {
      const identifiers = Array.from({ length: 20 }, (_, index) => names[index % names.length] ?? '')
      await Promise.all(
        identifiers.map(async (name) => {
          const mapping = await resolveKnown(tester, { identifier: name })
          if (mapping)
            tester.expect(
              mapping.body.identifier === name,
              `${JSON.stringify(name)} got the answer to another question`,
              mapping.made,
            )
        }),
      )
    }),
    ...transportPromises(contract.operations),
  ]
}
