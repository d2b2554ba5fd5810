import { isJsonObject, ownMember } from '../../base/json.ts'
import { withoutIndexes } from '../../plan/addresses.ts'
import type { Plan } from '../../plan/plan.ts'
import { managedChanges } from '../../plan/planned-changes.ts'
import type { PlanRule } from '../rule.ts'
import { literalsOf, modulesOf } from './expressions.ts'
import { isLiteralSecret, isSecretName } from './secret-names.ts'

/** Rules for secrets outside of resources: module inputs, variable defaults, provider settings. */
export const planSecretRules: PlanRule[] = [
  {
    id: 'common.secrets.module-input',
    title: 'Secret given to a module in the code',
    reason: 'Everyone who reads the repository, its history or the state of the engine has it.',
    fix: 'Rotate the secret, keep it in a secret store, and give the module a sensitive variable or a data source.',
    severity: 'error',
    cloud: 'common',
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
    cloud: 'common',
    checkPlan: (plan) =>
      modulesOf(plan).flatMap(({ address, module }) => {
        if (!createsIn(plan, address)) return []
        const variables = ownMember(module, 'variables')
        if (!isJsonObject(variables)) return []
        return Object.entries(variables)
          .filter(([name, variable]) => {
            const value = isJsonObject(variable) ? ownMember(variable, 'default') : undefined
            return isSecretName(name) && typeof value === 'string' && isLiteralSecret(value)
          })
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
    cloud: 'common',
    checkPlan: (plan) => {
      const configuration = plan.document.configuration
      const providers = isJsonObject(configuration) ? ownMember(configuration, 'provider_config') : undefined
      if (!isJsonObject(providers) || !createsIn(plan, '')) return []
      return Object.entries(providers).flatMap(([name, provider]) =>
        secretLiterals(isJsonObject(provider) ? ownMember(provider, 'expressions') : undefined).map((path) => ({
          resource: null,
          message: `The value of ${path} of the provider ${name} is written in the code.`,
        })),
      )
    },
  },
]

/** Returns paths of literal arguments that look like secrets. */
const secretLiterals = (expressions: Parameters<typeof literalsOf>[0]): string[] =>
  literalsOf(expressions)
    .filter(({ argument, value }) => isSecretName(argument) && typeof value === 'string' && isLiteralSecret(value))
    .map(({ path }) => path)

/** Reports whether the plan creates something in a module; secrets in other modules are older. */
const createsIn = (plan: Plan, moduleAddress: string): boolean =>
  managedChanges(plan).some(
    ({ resource, action }) =>
      action === 'create' && (moduleAddress === '' || withoutIndexes(resource.address).startsWith(`${moduleAddress}.`)),
  )
