import { COMPUTED } from '../../plan/code/literal.ts'
import { fitsGlob } from '../intent/glob.ts'
import { openTo } from '../network.ts'
import type { Condition, Statement } from './document.ts'
import { isEverything } from './patterns.ts'

/**
 * What conditions do to who may use a statement: `narrows` to some callers or networks, leaves it `open`, or is
 * `unknown` before the apply.
 */
export type Narrowing = 'narrows' | 'open' | 'unknown'

/** How the values of a key are judged: a pattern is open when it fits both samples. */
type Values = 'arn' | 'network' | 'flag' | 'id' | readonly [string, string]

const ACCOUNTS = ['111122223333', '999988887777'] as const
const ORGANIZATIONS = ['o-a1b2c3d4e5', 'o-z9y8x7w6v5'] as const
const PATHS = ['o-a1b2c3d4e5/r-ab12/ou-ab12-11111111/', 'o-z9y8x7w6v5/r-zy98/ou-zy98-99999999/'] as const
const NETWORKS = ['vpc-0a1b2c3d4e5f60718', 'vpc-9f8e7d6c5b4a39281'] as const
const ENDPOINTS = ['vpce-0a1b2c3d4e5f60718', 'vpce-9f8e7d6c5b4a39281'] as const
const SERVICES = ['sns.amazonaws.com', 'events.amazonaws.com'] as const

/**
 * Condition keys that say who calls or from where. After "AWS global condition context keys" in the user guide of IAM,
 * and "The meaning of public" in that of S3. Keys of the caller that everyone can set in an account of their own are
 * missing: tags, names of users and sessions, source identity, multi-factor authentication, and private addresses. The
 * endpoint of a subscription says who receives, whoever subscribes it.
 */
const NARROWING: ReadonlyMap<string, Values> = new Map<string, Values>([
  ['aws:principalaccount', ACCOUNTS],
  ['aws:principalarn', 'arn'],
  ['aws:principalorgid', ORGANIZATIONS],
  ['aws:principalorgpaths', PATHS],
  ['aws:principalservicename', SERVICES],
  ['aws:principalservicenameslist', SERVICES],
  ['aws:principalisawsservice', 'flag'],
  ['aws:federatedprovider', 'arn'],
  ['aws:userid', 'id'],
  ['aws:sourceip', 'network'],
  ['aws:sourcevpc', NETWORKS],
  ['aws:sourcevpcarn', 'arn'],
  ['aws:sourcevpce', ENDPOINTS],
  ['aws:vpceaccount', ACCOUNTS],
  ['aws:vpceorgid', ORGANIZATIONS],
  ['aws:vpceorgpaths', PATHS],
  ['aws:ec2instancesourcevpc', NETWORKS],
  ['aws:sourceaccount', ACCOUNTS],
  ['aws:sourceowner', ACCOUNTS],
  ['aws:sourcearn', 'arn'],
  ['aws:sourceorgid', ORGANIZATIONS],
  ['aws:sourceorgpaths', PATHS],
  ['ec2:sourceinstancearn', 'arn'],
  ['elasticfilesystem:accesspointarn', 'arn'],
  ['elasticfilesystem:accessedviamounttarget', 'flag'],
  ['kms:calleraccount', ACCOUNTS],
  ['lambda:sourcefunctionarn', 'arn'],
  ['s3:dataaccesspointaccount', ACCOUNTS],
  ['s3:dataaccesspointarn', 'arn'],
  ['s3:x-amz-server-side-encryption-aws-kms-key-id', 'arn'],
  ['sns:endpoint', ['https://a1b2.example.com/', 'z9y8@example.org']],
  ['sts:externalid', ['a1b2', 'z9y8']],
])

/** Keys that every request has, so that `IfExists` and `ForAllValues` do not weaken a condition on them. */
const ALWAYS_PRESENT = new Set(['aws:principalaccount', 'aws:userid', 'kms:calleraccount'])

/** Services whose other keys describe a request or a resource, and not who calls. */
const SERVICES_OF_KEYS = new Set(
  (
    'aws s3 s3express sns sqs kms iam sts ec2 ecr es aoss lambda secretsmanager dynamodb kinesis glacier backup events ' +
    'execute-api elasticfilesystem logs cloudwatch ssm rds glue states codeartifact apigateway mediastore acm-pca'
  ).split(' '),
)

const NEGATED = /^(string|arn|numeric|date)not|^notipaddress$/
/** Operators that compare with patterns; the others take `*` literally. */
const PATTERNS = /^(stringlike|arnlike|arnequals)$/

/** Variables that AWS replaces with what belongs to the owner of the resource. */
const OF_OWNER = /^\$\{aws:resource(account|orgid|orgpaths)\}$/i
const OF_CALLER = /^\$\{aws:principal(account|orgid|orgpaths)\}$/i
const OWNERS = new Set(['aws:resourceaccount', 'aws:resourceorgid', 'aws:resourceorgpaths'])

/** Reports what the conditions of a statement do together: all of them have to hold. */
export function narrowingOf({ conditions }: Pick<Statement, 'conditions'>): Narrowing {
  const required = new Set(conditions.filter(requiresKey).map(({ key }) => key))
  const results = conditions.map((condition) => narrowingBy(condition, required))
  return (['narrows', 'unknown'] as const).find((result) => results.includes(result)) ?? 'open'
}

/** Reports whether a condition holds only for requests with its key. */
const requiresKey = ({ quantifier, operator, ifExists, values }: Condition): boolean =>
  operator === 'null'
    ? values.every((value) => value === 'false')
    : quantifier !== 'all' && !ifExists && !NEGATED.test(operator)

function narrowingBy(condition: Condition, required: ReadonlySet<string>): Narrowing {
  const { quantifier, operator, ifExists, key } = condition
  if (operator === 'null' || NEGATED.test(operator)) return 'open'
  const isWeak = (ifExists || quantifier === 'all') && !ALWAYS_PRESENT.has(key) && !required.has(key)
  return isWeak ? 'open' : narrowingOfValues(condition)
}

/** Reports what the values of a condition leave of the callers, whatever its operator. */
function narrowingOfValues({ operator, key, values }: Condition): Narrowing {
  if (key.includes(COMPUTED)) return 'unknown'
  const form = NARROWING.get(key)
  if (form === undefined) {
    if (OWNERS.has(key) && values.length > 0 && values.every((value) => OF_CALLER.test(value))) return 'narrows'
    return SERVICES_OF_KEYS.has(key.split(':')[0] ?? '') ? 'open' : 'narrows'
  }
  const results = values.map((value) => narrowingIn(form, value, PATTERNS.test(operator)))
  return (['open', 'unknown'] as const).find((result) => results.includes(result)) ?? 'narrows'
}

const MAX_VALUE = 2_000

function narrowingIn(form: Values, value: string, isPattern: boolean): Narrowing {
  if (value.length > MAX_VALUE || OF_OWNER.test(value)) return 'narrows'
  const isUnknown = value.includes(COMPUTED)
  if (form === 'flag') return isUnknown ? 'unknown' : value === 'true' ? 'narrows' : 'open'
  if (form === 'network') return isUnknown ? 'unknown' : openTo(value) === null ? 'narrows' : 'open'
  if (form === 'arn') return arnOf(value, isPattern)
  if (isUnknown) return 'unknown'
  if (!isPattern) return value.startsWith('${') ? 'open' : 'narrows'
  if (form === 'id') return /^[*?]/.test(value) ? 'open' : 'narrows'
  return form.every((sample) => fitsGlob(value, sample)) ? 'open' : 'narrows'
}

/** Reports whether the account of an ARN, or its name where it has no account, leaves it open whose it is. */
function arnOf(value: string, isPattern: boolean): Narrowing {
  const [, , service = '', , account = '', ...rest] = value.split(':')
  if (/\d{12}/.test(account)) return 'narrows'
  if (value.includes(COMPUTED)) return 'unknown'
  if (!isPattern) return value.startsWith('${') ? 'open' : 'narrows'
  if (rest.length === 0) return /[*?]/.test(value) ? 'open' : 'narrows'
  if (account !== '') return /^[*?]+$/.test(account) ? 'open' : 'narrows'
  return isEverything(service) || isEverything(rest.join(':').split('/')[0] ?? '') ? 'open' : 'narrows'
}

/** Reports whether a statement denies everyone but who fulfils its conditions, and so narrows what others allow. */
export const deniesOthers = ({ conditions, notPrincipals }: Statement): boolean =>
  conditions.length === 0
    ? notPrincipals.length > 0 && notPrincipals.every(({ value }) => !isEverything(value))
    : conditions.every(
        (condition) =>
          (NEGATED.test(condition.operator) && isNarrowNegation(condition)) || OF_SERVICES.has(condition.key),
      ) && conditions.some(({ operator }) => NEGATED.test(operator))

/** Keys by which a denial leaves out calls that a service of AWS makes for a caller. */
const OF_SERVICES = new Set(['aws:viaawsservice', 'aws:principalisawsservice'])

const isNarrowNegation = (condition: Condition): boolean =>
  NARROWING.has(condition.key) &&
  narrowingOfValues({ ...condition, operator: condition.operator.replace('not', '') }) === 'narrows'

/** Keys that say by which way a request comes, so that they take nothing from what an identity may do. */
const OF_THE_WAY = new Set(['aws:securetransport', 'aws:useragent', 'aws:referer'])
/** Keys that every request of an identity has. */
const OF_THE_CALLER = new Set([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principaltype',
  'aws:userid',
  'aws:sourceip',
])
const IN_EVERY_REQUEST = new Set([
  ...OF_THE_CALLER,
  ...OF_THE_WAY,
  'aws:requestedregion',
  'aws:currenttime',
  'aws:epochtime',
  'aws:viaawsservice',
])

/**
 * Reports whether the conditions of a statement take nothing from what it allows an identity in IAM: they concern only
 * the way of a request, fit every value, or hold for requests without their key, as those of IAM are.
 */
export function leavesIdentity({ conditions }: Pick<Statement, 'conditions'>): boolean {
  const required = new Set(conditions.filter(requiresKey).map(({ key }) => key))
  return conditions.every((condition) => {
    const { quantifier, operator, ifExists, key } = condition
    if (OF_THE_WAY.has(key) || (key === 'aws:tokenissuetime' && operator.startsWith('dategreaterthan'))) return true
    if ((quantifier === 'all' || ifExists) && !IN_EVERY_REQUEST.has(key) && !required.has(key)) return true
    if (NEGATED.test(operator)) return OF_THE_CALLER.has(key) || isOfAnotherService(key)
    return operator !== 'null' && NARROWING.has(key) && narrowingOfValues(condition) === 'open'
  })
}

const isOfAnotherService = (key: string): boolean =>
  SERVICES_OF_KEYS.has(key.split(':')[0] ?? '') && !/^(aws|iam|sts):/.test(key)

/** Reports whether a denial depends only on how a request comes, so that it can be fulfilled by whoever is allowed. */
export const deniesWays = ({ conditions }: Statement): boolean =>
  conditions.length > 0 &&
  conditions.every(({ key }) => IN_EVERY_REQUEST.has(key) || /^aws:(multifactorauth|tokenissuetime)/.test(key))
