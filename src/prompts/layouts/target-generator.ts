import { render } from '../layout.ts'

export type TargetGeneratorValues =
  | { variant: 'session' }
  /** Body of `general-guidelines-targeting_policies`. */
  | { variant: 'drift'; targeting_policies: string }

const FINISH =
  'Call `generate_engine_targets` once with `targets` and an `explanation`. An empty list means: plan the whole root.'
const ADDRESSES = [
  'A target is a resource or module address as the engine knows it: `type.name`, `module.name`, `module.name.type.name`. Resources only: no ' +
    'variables, outputs, locals, providers or data sources.',
  'Read the files: every address must exist in the code, except for blocks that were removed and still have to be destroyed.',
  'Name the resource without an index when all of its instances are meant, with the index when only some are.',
]

/** TARGET_GENERATOR, sentinel `generate_engine_targets`. */
export const targetGeneratorLayout = (values: TargetGeneratorValues): string =>
  values.variant === 'session' ? sessionLayout() : driftLayout(values.targeting_policies)

const sessionLayout = () =>
  render({
    role: 'You name the addresses that the engine has to plan so that the plan shows what this session changed, all of it and nothing else.',
    rules: [
      'Call `diff_history` first: it holds every change of this session. List each resource whose block was added, changed or removed.',
      ...ADDRESSES,
      'A changed variable, local, output or data source stands for the resources that use it: list those.',
      'A changed module source, version or input stands for the whole module: list `module.name`.',
      'Do not list what a listed resource merely depends on: the engine adds dependencies itself.',
      'Report an empty list only when the change concerns the whole root (providers, backend, a rename of many modules) or when no ' +
        'single address can be named.',
    ],
    finish: FINISH,
  })

const driftLayout = (targeting_policies: string) =>
  render({
    role: 'You translate a request about drift into the addresses that the engine has to compare with the real infrastructure.',
    rules: [
      'Search the code for what the request means; names in a request are often those of the real resource, not of the block.',
      ...ADDRESSES,
      'Stay within the request: a resource that is merely close by is not meant.',
      'Nothing in the code fits: report an empty list and say in the explanation, to the user, what you looked for.',
    ],
    blocks: [['Targeting policies', targeting_policies]],
    finish: 'Call `generate_engine_targets` once with `targets` and an `explanation`.',
  })
