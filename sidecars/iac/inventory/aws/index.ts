import * as v from 'valibot'
import { type Page, readPages } from '../http.ts'
import { checkShape, type Inventory, InventoryError, RefusedError } from '../request.ts'
import { type AwsClient, createAwsClient, isRegion } from './client.ts'

const SOURCE = 'AWS Resource Explorer'

/** Lists an account's ARNs by Resource Explorer, in the aggregator's region, which alone indexes all regions. */
export const awsInventory: Inventory = async (request) => {
  const { scopeId } = request
  const client = createAwsClient(request)
  const account = await client.account()
  if (account !== scopeId) throw new InventoryError(`AWS credentials belong to account ${account}, not ${scopeId}`)
  const region = await findAggregatorRegion(client, account)
  const view = await findDefaultView(client, region, account)
  const body = { MaxResults: 500, ViewArn: view }
  const resources = await readAll(client, region, 'ListResources', body, (answer) => {
    const { Resources, NextToken } = checkShape(SOURCE, resourcesAnswer, answer)
    return { items: Resources.filter((resource) => !leavesOut(resource, account)), next: NextToken }
  })
  return resources.map(({ Arn }) => Arn)
}

/** Reads all pages of an operation of Resource Explorer. */
const readAll = <Item>(
  client: AwsClient,
  region: string,
  operation: string,
  body: object,
  read: (answer: unknown) => Page<Item>,
): Promise<Item[]> =>
  readPages(SOURCE, async (cursor) =>
    read(await client.explore(region, operation, { ...body, ...(cursor === null ? {} : { NextToken: cursor }) })),
  )

const token = v.nullish(v.string())
const indexesAnswer = v.object({
  Indexes: v.array(v.object({ Region: v.nullish(v.string()), Type: v.nullish(v.string()) })),
  NextToken: token,
})
const viewAnswer = v.object({ ViewArn: v.nullish(v.string()) })

/** The keys of the tags. `tags` is one property among others: a list of pairs in an undocumented form. */
const tagKeys = v.pipe(
  v.nullish(v.array(v.object({ Name: v.nullish(v.string()), Data: v.unknown() })), []),
  v.transform((properties) =>
    properties.flatMap(({ Name, Data }) => (Name === 'tags' && Array.isArray(Data) ? Data.flatMap(keyOf) : [])),
  ),
)
const tagSchema = v.object({ Key: v.string() })
const keyOf = (tag: unknown): string[] => (v.is(tagSchema, tag) ? [tag.Key] : [])

const Resource = v.object({
  Arn: v.pipe(v.string(), v.startsWith('arn:'), v.maxLength(2048)),
  OwningAccountId: v.string(),
  ResourceType: v.nullish(v.string(), ''),
  Properties: tagKeys,
})
const resourcesAnswer = v.object({ Resources: v.array(Resource), NextToken: token })

async function findAggregatorRegion(client: AwsClient, account: string): Promise<string> {
  const indexes = await readAll(client, client.region, 'ListIndexes', { Type: 'AGGREGATOR' }, (answer) => {
    const { Indexes, NextToken } = checkShape(SOURCE, indexesAnswer, answer)
    return { items: Indexes.filter(({ Type }) => Type === 'AGGREGATOR'), next: NextToken }
  })
  const region = indexes[0]?.Region
  if (!region) throw notEnabled(account, 'it has no aggregator index')
  if (!isRegion(region)) throw new InventoryError(`${SOURCE} names an aggregator index in an unknown region`)
  return region
}

async function findDefaultView(client: AwsClient, region: string, account: string): Promise<string> {
  const answer = await client.explore(region, 'GetDefaultView', {}).catch((error: unknown) => {
    if (error instanceof RefusedError && error.status === 404) return {}
    throw error
  })
  const { ViewArn } = checkShape(SOURCE, viewAnswer, answer)
  if (!ViewArn) throw notEnabled(account, `the region ${region} of its aggregator index has no default view`)
  return ViewArn
}

const notEnabled = (account: string, reason: string) =>
  new InventoryError(`${SOURCE} is not enabled for account ${account}: ${reason}`)

const ARN_PARTS = [':role/aws-service-role/', ':role/aws-reserved/sso.amazonaws.com/']
/** Beginnings of tags on resources that AWS services and cluster controllers create for themselves. */
const TAG = /^(aws:|eks:|kubernetes\.io\/|k8s\.io\/|alpha\.eksctl\.io\/|(elbv2|ingress|service)\.k8s\.aws\/)/

/** Reports whether a resource is not managed by code. Its tags are unknown where the view has none. */
function leavesOut(
  { Arn, OwningAccountId, ResourceType, Properties }: v.InferOutput<typeof Resource>,
  account: string,
): boolean {
  return (
    OwningAccountId !== account ||
    ResourceType === 'ec2:network-interface' ||
    ARN_PARTS.some((part) => Arn.includes(part)) ||
    Properties.some((key) => TAG.test(key))
  )
}
