import type { ServerAnswer } from '../server.ts'
import { ACCOUNT, AGGREGATOR_REGION, type CloudResource, REGION, RESOURCES } from './account.ts'

const json = (body: object, status = 200): ServerAnswer => ({ status, body })
const xml = (body: string, status = 200): ServerAnswer => ({ status, headers: { 'content-type': 'text/xml' }, body })

const INDEXES = [AGGREGATOR_REGION, REGION].map((region) => ({
  Arn: `arn:aws:resource-explorer-2:${region}:${ACCOUNT}:index/2f0b7c1e-5d7f-4a3f-9f3a-0c6d7f1f5a01`,
  Region: region,
  Type: region === AGGREGATOR_REGION ? 'AGGREGATOR' : 'LOCAL',
}))
const VIEW =
  `arn:aws:resource-explorer-2:${AGGREGATOR_REGION}:${ACCOUNT}:view/all-resources/` +
  '6b6f0a52-3c43-4a0d-8f43-0f3c7d0f7a02'
/** Entries on a page, few so that readers have to request further pages. */
const PAGE = 5

/** Answers a request to STS in AWS's query protocol. */
export function answerSts(form: URLSearchParams): ServerAnswer {
  const action = form.get('Action')
  if (action !== 'GetCallerIdentity')
    return xml(
      '<ErrorResponse><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>Only GetCallerIdentity is ' +
        'served here.</Message></Error></ErrorResponse>',
      400,
    )
  return xml(
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
      `<Arn>arn:aws:iam::${ACCOUNT}:user/sample</Arn><UserId>AIDASAMPLEACCOUNTUSER</UserId>` +
      `<Account>${ACCOUNT}</Account>` +
      `</GetCallerIdentityResult><ResponseMetadata><RequestId>${crypto.randomUUID()}</RequestId>` +
      '</ResponseMetadata></GetCallerIdentityResponse>',
  )
}

/**
 * Answers a request to Resource Explorer in AWS's REST protocol.
 * @param region the region in the signature, which knows only its own view
 */
export function answerExplorer(path: string, region: string, body: Record<string, unknown>): ServerAnswer {
  if (path === '/ListIndexes')
    return json({ Indexes: INDEXES.filter(({ Type }) => body.Type === undefined || body.Type === Type) })
  if (path === '/GetDefaultView') return json(region === AGGREGATOR_REGION ? { ViewArn: VIEW } : {})
  if (path === '/ListResources') return listResources(region, body)
  return json({ message: `The operation ${path} is not served here.` }, 404)
}

function listResources(region: string, body: Record<string, unknown>): ServerAnswer {
  if (region !== AGGREGATOR_REGION || (body.ViewArn !== undefined && body.ViewArn !== VIEW))
    return json({ message: 'The view could not be found in this region.' }, 404)
  const limit = body.MaxResults ?? 100
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > 1000)
    return json({ message: 'MaxResults must be from 1 to 1000.' }, 400)
  const start = body.NextToken === undefined ? 0 : parseOffset(body.NextToken)
  if (start === null) return json({ message: 'The token is not valid.' }, 400)
  const end = start + Math.min(PAGE, Number(limit))
  return json({
    ViewArn: VIEW,
    Resources: RESOURCES.slice(start, end).map(toDocument),
    ...(end < RESOURCES.length && { NextToken: Buffer.from(`offset ${end}`).toString('base64') }),
  })
}

function parseOffset(token: unknown): number | null {
  const text = typeof token === 'string' ? Buffer.from(token, 'base64').toString('utf8') : ''
  const offset = /^offset (\d+)$/.exec(text)?.[1]
  return offset !== undefined && Number(offset) < RESOURCES.length ? Number(offset) : null
}

const SEEN = '2026-01-15T04:00:00Z'

const toDocument = ({ arn, type, region, owner, tags }: CloudResource) => ({
  Arn: arn,
  ResourceType: type,
  Service: type.split(':')[0],
  Region: region,
  OwningAccountId: owner,
  LastReportedAt: SEEN,
  Properties: [
    { Name: 'tags', LastReportedAt: SEEN, Data: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
  ],
})
