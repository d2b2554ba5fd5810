import { isJsonObject, type Json, memberOf, parseJson } from '../base/json.ts'
import type { View } from './rule.ts'
import { jsonAt } from './view.ts'

/** Longest document that is read, in characters; cloud limits are far lower. */
const MAX_LENGTH = 500_000

/** Parses a JSON text; null for other text. A value that is not a text stays as it is. */
export function jsonOf(value: Json): Json {
  if (typeof value !== 'string') return value
  return value.length > MAX_LENGTH || !/^\s*[[{]/.test(value) ? null : (parseJson(value) ?? null)
}

/** An AWS policy statement that allows something. */
export interface Allowance {
  actions: string[]
  notActions: string[]
  resources: string[]
  /** True if its principal is everyone. */
  anyone: boolean
  /** Condition keys in lower case. */
  conditions: string[]
}

/** Returns the allowing statements of a policy attribute; none when it is not a policy. */
export const allowancesOf = (view: View, key: string): Allowance[] => allowancesIn(jsonAt(view, key))

/** Returns the allowing statements of a policy, a JSON text or an object. */
export function allowancesIn(policy: Json): Allowance[] {
  return listOf(memberOf(jsonOf(policy), 'Statement'))
    .filter(isJsonObject)
    .filter((statement) => memberOf(statement, 'Effect') === 'Allow')
    .map((statement) => ({
      actions: texts(memberOf(statement, 'Action')),
      notActions: texts(memberOf(statement, 'NotAction')),
      resources: texts(memberOf(statement, 'Resource')),
      anyone: isAnyone(memberOf(statement, 'Principal')) || (memberOf(statement, 'NotPrincipal') ?? null) !== null,
      conditions: conditionKeys(memberOf(statement, 'Condition')),
    }))
}

/** Reports whether a principal is everyone: `*`, `{"AWS": "*"}` or a list with `*`. */
function isAnyone(principal: Json | undefined): boolean {
  if (typeof principal === 'string') return principal === '*'
  return isJsonObject(principal) && Object.values(principal).some((value) => texts(value).includes('*'))
}

const conditionKeys = (condition: Json | undefined): string[] =>
  isJsonObject(condition)
    ? Object.values(condition).flatMap((keys) =>
        isJsonObject(keys) ? Object.keys(keys).map((key) => key.toLowerCase()) : [],
      )
    : []

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [value ?? null])
const texts = (value: Json | undefined): string[] => listOf(value).filter((item) => typeof item === 'string')

/** Condition keys that restrict how a call is made, but not who makes it. */
const NOT_ABOUT_CALLER = new Set([
  'aws:securetransport',
  'aws:currenttime',
  'aws:epochtime',
  'aws:useragent',
  'aws:referer',
  'aws:requestedregion',
  's3:tlsversion',
  's3:signatureversion',
  's3:authtype',
  's3:x-amz-acl',
  's3:x-amz-server-side-encryption',
  's3:prefix',
  's3:delimiter',
  'sns:protocol',
  'sns:endpoint',
])

/** Reports whether a statement allows every caller, because no condition restricts who calls. */
export const allowsAnyone = ({ anyone, conditions }: Allowance): boolean =>
  anyone && conditions.every((key) => NOT_ABOUT_CALLER.has(key))
