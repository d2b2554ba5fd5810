import { type Json, type JsonObject, memberOf, ownMember } from '../../base/json.ts'
import {
  carriesSecret,
  hasUrlPassword,
  isLiteralSecret,
  isSecretName,
  isSecretVariable,
  tokensIn,
} from '../../base/secret-forms.ts'
import { withoutIndexes } from '../../plan/addresses.ts'
import { modulesOf, type Plan } from '../../plan/plan.ts'
import { managedChanges } from '../../plan/planned-changes.ts'
import { jsonOf } from '../policies/document.ts'
import type { PlanContext, Rule, Subject, View } from '../rule.ts'
import { type AttributeText, objectOf, stringsOf } from '../view.ts'
import { hasReferences, literalsOf, textsIn } from './expressions.ts'

const USE_SECRET_STORE =
  'Rotate the secret, keep it in a secret store, and let the code refer to it (a sensitive variable or a data source).'

export const secretRules: Rule[] = [
  {
    id: 'common.secrets.literal-argument',
    title: 'Secret written in the code',
    reason: 'Everyone who reads the repository, its history or the state of the engine has it.',
    fix: USE_SECRET_STORE,
    severity: 'error',
    looksAt: 'change',
    check: literalArguments,
  },
  {
    id: 'common.secrets.known-token',
    title: 'Key or token in plain text',
    reason: 'The text has the form of a credential; user data, variables and configuration are readable by many.',
    fix: USE_SECRET_STORE,
    severity: 'error',
    check: (subject) =>
      visibleStrings(subject).flatMap(({ attribute, text }) =>
        tokensIn(text).map((name) => `${attribute} holds ${name}.`),
      ),
  },
  {
    id: 'common.secrets.url-password',
    title: 'Password in an address',
    reason: 'Addresses are logged and shown where passwords are not.',
    fix: USE_SECRET_STORE,
    severity: 'error',
    check: (subject) =>
      visibleStrings(subject)
        .filter(({ text }) => hasUrlPassword(text))
        .map(({ attribute }) => `${attribute} holds an address with a password.`),
  },
  {
    id: 'common.secrets.literal-environment',
    title: 'Secret of a process written in the code',
    reason: 'Everyone who reads the repository, or may look at the service, has it.',
    fix: 'Let the process read it from a secret store; refer to the secret instead of its value.',
    severity: 'error',
    check: (subject, context) =>
      secretVariables(subject, context, true).map((key) => `The value of ${key} is written in the code.`),
  },
  {
    id: 'common.secrets.plain-environment',
    title: 'Secret in variables of a process',
    reason: 'Everyone who may look at the service reads its variables.',
    fix: 'Let the process read it from a secret store; refer to the secret instead of its value.',
    severity: 'warning',
    check: (subject, context) =>
      secretVariables(subject, context, false).map((key) => `The value of ${key} stands in plain text.`),
  },
  {
    id: 'common.secrets.module-input',
    title: 'Secret given to a module in the code',
    reason: 'Everyone who reads the repository, its history or the state of the engine has it.',
    fix: 'Rotate the secret, keep it in a secret store, and give the module a sensitive variable or a data source.',
    severity: 'error',
    checkPlan: (plan) =>
      modulesOf(plan).flatMap(({ address, inputs }) =>
        createsIn(plan, address)
          ? secretLiterals(inputs).map((path) => ({
              resource: address,
              message: `The value of the input ${path} is written in the code.`,
            }))
          : [],
      ),
  },
  {
    id: 'common.secrets.variable-default',
    title: 'Secret as the default of a variable',
    reason: 'A default that works is used; everyone who reads the repository has it.',
    fix: 'Remove the default and mark the variable as sensitive.',
    severity: 'warning',
    checkPlan: (plan) =>
      modulesOf(plan).flatMap(({ address, module }) => {
        if (!createsIn(plan, address)) return []
        return Object.entries(objectOf(ownMember(module, 'variables')))
          .filter(([name, variable]) => isLiteralSecretAt(name, memberOf(variable, 'default')))
          .map(([name]) => ({
            resource: null,
            message: `The variable ${address === '' ? name : `${address}.${name}`} has a default.`,
          }))
      }),
  },
  {
    id: 'common.secrets.provider-argument',
    title: 'Credentials of a provider in the code',
    reason: 'They open the account to everyone who reads the repository.',
    fix: 'Rotate them, and let the provider read them from its environment.',
    severity: 'warning',
    checkPlan: (plan) => {
      if (!createsIn(plan, '')) return []
      const providers = objectOf(memberOf(plan.document.configuration, 'provider_config'))
      return Object.entries(providers).flatMap(([name, provider]) =>
        secretLiterals(memberOf(provider, 'expressions')).map((path) => ({
          resource: null,
          message: `The value of ${path} of the provider ${name} is written in the code.`,
        })),
      )
    },
  },
]

/** Returns messages about literal secrets; for an update, about changed arguments only. */
function literalArguments(subject: Subject, { expressionsOf }: PlanContext): string[] {
  if (subject.action === 'delete') return []
  return literalsOf(expressionsOf(subject.address))
    .filter(({ argument, path }) => carriesSecret(subject.type, argument, path) || isSecureParameter(subject, argument))
    .filter(({ path }) => subject.action !== 'update' || isChanged(subject, path.split('.')[0] ?? path))
    .filter(({ argument, value }) => textsIn(secretPart(argument, value)).some(isLiteralSecret))
    .map(({ path }) => `The value of ${path} is written in the code.`)
}

/** Returns the secret part of an argument: only the data of a raw manifest, else the whole value. */
const secretPart = (argument: string, value: Json): Json =>
  argument === 'manifest' ? ['data', 'stringData'].map((key) => memberOf(value, key) ?? null) : value

const isSecureParameter = ({ type, values }: Subject, argument: string) =>
  type === 'aws_ssm_parameter' && /^(value|value_wo)$/.test(argument) && ownMember(values, 'type') === 'SecureString'

const isChanged = ({ before, values }: Subject, key: string) =>
  JSON.stringify(ownMember(before, key)) !== JSON.stringify(ownMember(values, key))

/** Returns the texts that every viewer of the resource sees, without sensitive ones. */
const visibleStrings = (subject: Subject) =>
  stringsOf(subject).filter(({ sensitive, attribute }) => !sensitive && !carriesSecret(subject.type, attribute))

/** Returns environment and configuration keys with a secret value, literal or not as requested. */
function secretVariables(subject: Subject, { expressionsOf }: PlanContext, literal: boolean): string[] {
  const expressions = expressionsOf(subject.address)
  return environmentOf(subject.type, subject)
    .filter(({ key, text, sensitive }) => isSecretVariable(key, text) && !(sensitive && !literal))
    .filter(({ attribute, text }) => isWrittenInCode(ownMember(expressions, attribute), text) === literal)
    .map(({ key }) => key)
}

/** Reports whether the code contains a text: as a literal, or because the expression has no references. */
function isWrittenInCode(expression: Json | undefined, text: string): boolean {
  if (expression === undefined) return false
  if (!hasReferences(expression)) return true
  return literalsOf({ expression }).some(({ value }) => textsIn(value).some((each) => each === text))
}

/** Attributes of any cloud with environment variables or configuration keys. */
const ATTRIBUTES = new Set([
  'app_settings',
  'build_environment_variables',
  'config',
  'container',
  'container_definitions',
  'data',
  'default_arguments',
  'environment',
  'environment_variables',
  'metadata',
  'service_config',
  'setting',
  'settings',
  'source_configuration',
  'spec',
  'template',
])
/** Types that are meant to contain secrets, which other rules check. */
const SECRET_STORES =
  /^(kubernetes_secret|vault_|aws_secretsmanager_|google_secret_manager_|azurerm_key_vault_|oci_vault_)/

/** Returns the environment and configuration texts of a process, with keys. ECS writes its containers as JSON text. */
function environmentOf(type: string, view: View): AttributeText[] {
  if (SECRET_STORES.test(type)) return []
  const values: JsonObject = {}
  for (const [key, value] of Object.entries(view.values))
    if (ATTRIBUTES.has(key)) values[key] = key === 'container_definitions' ? jsonOf(value) : value
  return stringsOf({ ...view, values }).filter(({ key }) => !ATTRIBUTES.has(key))
}

/** Returns paths of literal arguments that look like secrets. */
const secretLiterals = (expressions: Json | undefined): string[] =>
  literalsOf(expressions)
    .filter(({ argument, value }) => isLiteralSecretAt(argument, value))
    .map(({ path }) => path)

const isLiteralSecretAt = (name: string, value: Json | undefined): boolean =>
  isSecretName(name) && typeof value === 'string' && isLiteralSecret(value)

/** Reports whether the plan creates something in a module; secrets in other modules are older. */
const createsIn = (plan: Plan, moduleAddress: string): boolean =>
  managedChanges(plan).some(
    ({ resource, action }) =>
      action === 'create' && (moduleAddress === '' || withoutIndexes(resource.address).startsWith(`${moduleAddress}.`)),
  )
