import { type Plan, parsePlan } from '../../../src/plan/plan.ts'

/**
 * Writes the text of a plan with this many resources: chains of references, modules with instances, updates of lists
 * and maps, sensitive and unknown parts, and a prior state.
 */
export function largePlanText(size: number): string {
  const addressOf = (index: number) =>
    index % 4 === 3 ? `module.part["k${index}"].aws_thing.inner` : `aws_thing.r${index}`
  const resource_changes = Array.from({ length: size }, (_, index) => {
    const before = {
      id: `i-${index}`,
      name: `thing-${index}`,
      rules: Array.from({ length: 6 }, (_, port) => ({
        port,
        cidrs: [`10.${index % 250}.${port}.0/24`, '10.0.0.0/8'],
      })),
      tags: { owner: 'team', cost: `c${index % 50}`, stage: 'production' },
      password: `planted-${index}-password`,
      settings: [{ mode: 'a', size: index, limits: { low: 1, high: 2 } }],
    }
    const rules = before.rules.with(2, { port: 22, cidrs: ['0.0.0.0/0'] })
    return {
      address: addressOf(index),
      ...(index % 4 === 3 && { module_address: `module.part["k${index}"]` }),
      mode: 'managed',
      type: 'aws_thing',
      name: index % 4 === 3 ? 'inner' : `r${index}`,
      provider_name: 'registry.terraform.io/hashicorp/aws',
      change: {
        actions: index % 5 === 0 ? ['create'] : ['update'],
        before: index % 5 === 0 ? null : before,
        after: { ...before, rules, tags: { ...before.tags, cost: 'new' }, arn: undefined },
        after_unknown: { arn: true, settings: [{ endpoint: true }] },
        before_sensitive: { password: true },
        after_sensitive: { password: true, settings: [{}] },
      },
    }
  })
  const block = (name: string, references: string[]) => ({
    address: `aws_thing.${name}`,
    mode: 'managed',
    type: 'aws_thing',
    name,
    expressions: { input: { references }, rules: [{ cidrs: { constant_value: [] } }] },
  })
  const own = Array.from({ length: size }, (_, index) => index).filter((index) => index % 4 !== 3)
  return JSON.stringify({
    format_version: '1.2',
    terraform_version: '1.11.4',
    resource_changes,
    configuration: {
      root_module: {
        resources: own.map((index) =>
          block(`r${index}`, [
            `aws_thing.r${index - 1}.id`,
            `aws_thing.r${index - 1}`,
            'module.part["k3"].id',
            'local.x',
          ]),
        ),
        module_calls: {
          part: {
            module: {
              resources: [block('inner', ['var.input', 'each.key'])],
              outputs: { id: { expression: { references: ['aws_thing.inner.id', 'aws_thing.inner'] } } },
            },
            expressions: { input: { references: ['aws_thing.r0.id', 'aws_thing.r0'] } },
            for_each_expression: { references: ['var.parts'] },
          },
        },
      },
    },
    prior_state: {
      values: {
        root_module: {
          resources: own.map((index) => ({ address: `aws_thing.r${index}`, depends_on: [`aws_thing.r${index - 2}`] })),
        },
      },
    },
  })
}

export const largePlan = (size: number): Plan => parsePlan(largePlanText(size))
