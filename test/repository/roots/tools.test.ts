import { expect, it } from 'vitest'
import { findTools } from '../../../src/repository/roots/tools.ts'

it('names the tools by their files', () => {
  const found = ['a/terragrunt.hcl', 'b/Pulumi.yml', 'Chart.yaml', 'c/cdktf.json', 'd/net.tfcomponent.hcl']
  expect(findTools(found)).toEqual(['terragrunt', 'pulumi', 'helm', 'cdktf', 'stack'])
  expect(findTools(['a/my-terragrunt.hcl', 'chart.yaml', 'x/main.tf', 'tfstack.hcl', 'a/Chart.yaml.txt'])).toEqual([])
  expect(findTools(['live/terragrunt.stack.hcl', 'x.tfdeploy.hcl'])).toEqual(['terragrunt', 'stack'])
})
