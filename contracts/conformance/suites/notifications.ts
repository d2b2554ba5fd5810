import { bodyPromises } from '../promises/bodies.ts'
import { isRefusal, policyFor } from '../promises/policy.ts'
import { tokenPromises } from '../promises/token.ts'
import { healthPromises, transportPromises } from '../promises/transport.ts'
import { isRecord } from '../schema/schema.ts'
import { type Check, check, type Exchange, type Options, type Tester } from '../types.ts'

const LEAST = {
  kind: 'conformance.check',
  severity: 'info',
  subject: 'Conformance check',
  body: 'Sent by the conformance suite.',
}

/** Returns the promises of `contracts/notifications.v1.yaml`. The service really delivers what it accepts. */
export function notificationsSuite({ contract, token }: Options): Check[] {
  const notify = contract.operation('notify')
  const policy = policyFor(notify, [202, 502, 503], { tokenFirst: false })
  const send = (tester: Tester, more: object = {}) => tester.ask(notify, { json: { ...LEAST, ...more } })
  const accepted = (tester: Tester, made: Exchange) => {
    if (made.status === 502 || made.status === 503)
      tester.skip(`the channel behind the service is not usable: it answered ${made.status}`)
    return tester.expectStatus(made, 202)
  }

  return [
    ...healthPromises(contract),
    ...tokenPromises([policy], token),
    ...bodyPromises(policy),
    check('notify.delivery-id', 'An accepted notification is answered with 202 and a delivery id', async (tester) => {
      for (const severity of ['info', 'warning', 'error', 'critical']) {
        const made = await send(tester, { severity, subject: `Conformance check: ${severity}` })
        if (accepted(tester, made)) tester.expect(hasId(made), 'there is no delivery id', made)
      }
    }),
    check('notify.again', 'The same notification again is accepted again, delivered once or twice', async (tester) => {
      for (let index = 0; index < 3; index++) {
        const made = await send(tester, { subject: 'Conformance check: the same again' })
        if (accepted(tester, made)) tester.expect(hasId(made), 'there is no delivery id', made)
      }
    }),
    check(
      'notify.different',
      'Different notifications have different delivery ids, also when they come at the same time',
      async (tester) => {
        const made = await Promise.all(
          Array.from({ length: 8 }, (_, index) => send(tester, { subject: `Conformance check: ${index + 1} of 8` })),
        )
        const ids = made
          .filter((each) => accepted(tester, each))
          .map((each) => (isRecord(each.json) ? each.json.delivery_id : undefined))
        tester.expect(
          new Set(ids).size === ids.length,
          `8 notifications have the delivery ids ${JSON.stringify(ids)}`,
          made[0],
        )
      },
    ),
    check('notify.single-line', 'A subject of more than one line is refused', async (tester) => {
      for (const subject of ['two\nlines', 'two\r\nlines', 'two\rlines', '\n', 'ends\n', '\nbegins']) {
        const made = await send(tester, { subject })
        tester.expect(isRefusal(made.status), `${JSON.stringify(subject)}: answered ${made.status}`, made)
      }
    }),
    check('notify.context', 'The context takes facts of any shape', async (tester) => {
      const shapes = [
        {},
        { a: null },
        { deep: { list: [1, [2, { three: [] }]], yes: true } },
        { '': 'empty key', 'key with spaces': 1 },
        { long: 'x'.repeat(5000) },
        { ü: '😀' },
      ]
      for (const context of shapes)
        accepted(
          tester,
          await send(tester, {
            subject: `Conformance check: context ${JSON.stringify(context).slice(0, 60)}`,
            context,
          }),
        )
      accepted(
        tester,
        await tester.ask(notify, {
          raw: `${JSON.stringify(LEAST).slice(0, -1)},"context":{"__proto__":{"a":1},"constructor":1}}`,
        }),
      )
    }),
    check(
      'notify.links',
      'Links are accepted with http and https addresses; any other URI is accepted or refused',
      async (tester) => {
        for (const url of [
          'https://example.com',
          'http://example.com:8080/a?b=c#d',
          'https://xn--bcher-kva.example/%C3%BC',
        ])
          accepted(
            tester,
            await send(tester, { subject: 'Conformance check: a link', links: [{ label: 'Link', url }] }),
          )
        for (const url of ['urn:isbn:0451450523', 'mailto:ada@example.com', 'tel:+123']) {
          const made = await send(tester, {
            subject: 'Conformance check: another link',
            links: [{ label: 'Link', url }],
          })
          tester.expect(isRefusal(made.status) || notifyUnderstood(made), `${url}: answered ${made.status}`, made)
        }
      },
    ),
    ...transportPromises(contract.operations),
    check(
      'notify.channel-error',
      'A problem of the channel (502) is told without detail: its address is a credential',
      async (tester) => {
        const failed = tester.exchangesWith(notify).filter(({ status }) => status === 502)
        if (failed.length === 0)
          tester.skip(
            'the channel did not fail in this run; run once more with the service pointed at a channel that ' +
              'is unreachable',
          )
        for (const made of failed) {
          tester.expect(isRecord(made.json) && !Object.hasOwn(made.json, 'detail'), 'the problem has a detail', made)
          tester.expect(!/:\/\//.test(made.text), 'the problem holds an address', made)
        }
      },
    ),
  ]
}

const notifyUnderstood = ({ status }: Exchange) => [202, 502, 503].includes(status)
const hasId = ({ json }: Exchange) => isRecord(json) && typeof json.delivery_id === 'string' && json.delivery_id !== ''
