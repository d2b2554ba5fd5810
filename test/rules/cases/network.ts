import { bad, type Case, fine, type Values } from '../support.ts'

interface Form {
  name: string
  type: string
  values(source: string, from: number, to: number, protocol: string): Values
}

const aws: Form[] = [
  {
    name: 'a group',
    type: 'aws_security_group',
    values: (source, from_port, to_port, protocol) => ({
      ingress: [{ from_port, to_port, protocol, cidr_blocks: [source], ipv6_cidr_blocks: [] }],
    }),
  },
  {
    name: 'a rule',
    type: 'aws_security_group_rule',
    values: (source, from_port, to_port, protocol) => ({
      type: 'ingress',
      from_port,
      to_port,
      protocol,
      cidr_blocks: [source],
    }),
  },
  {
    name: 'a rule of the newest form',
    type: 'aws_vpc_security_group_ingress_rule',
    values: (cidr_ipv4, from_port, to_port, ip_protocol) => ({ cidr_ipv4, from_port, to_port, ip_protocol }),
  },
]
const AZURE_RULE = 'azurerm_network_security_rule'
const azureRule: Form['values'] = (source_address_prefix, from, to, protocol) => ({
  direction: 'Inbound',
  access: 'Allow',
  protocol,
  source_address_prefix,
  destination_port_range: from === to ? `${from}` : `${from}-${to}`,
})
const azure: Form[] = [
  { name: 'a rule', type: AZURE_RULE, values: azureRule },
  {
    name: 'a group',
    type: 'azurerm_network_security_group',
    values: (source, from, to, protocol) => ({
      security_rule: [
        {
          direction: 'Inbound',
          access: 'Allow',
          protocol,
          source_address_prefixes: [source],
          destination_port_ranges: [`${from}-${to}`],
        },
      ],
    }),
  },
]
const gcp: Form[] = [
  {
    name: 'a firewall',
    type: 'google_compute_firewall',
    values: (source, from, to, protocol) => ({
      direction: 'INGRESS',
      source_ranges: [source],
      allow: [{ protocol, ports: [`${from}-${to}`] }],
    }),
  },
  {
    name: 'a rule of a policy',
    type: 'google_compute_network_firewall_policy_rule',
    values: (source, from, to, ip_protocol) => ({
      direction: 'INGRESS',
      action: 'allow',
      match: [{ src_ip_ranges: [source], layer4_configs: [{ ip_protocol, ports: [`${from}-${to}`] }] }],
    }),
  },
]
const number = (protocol: string) => (protocol === 'tcp' ? '6' : '17')
const oci: Form[] = [
  {
    name: 'a list',
    type: 'oci_core_security_list',
    values: (source, min, max, protocol) => ({
      ingress_security_rules: [
        { protocol: number(protocol), source, [`${protocol}_options`]: [{ min, max, source_port_range: [] }] },
      ],
    }),
  },
  {
    name: 'a rule of a group',
    type: 'oci_core_network_security_group_security_rule',
    values: (source, min, max, protocol) => ({
      direction: 'INGRESS',
      protocol: number(protocol),
      source,
      [`${protocol}_options`]: [{ destination_port_range: [{ min, max }] }],
    }),
  },
]

const ofForm = (cloud: string, { name, type, values }: Form): Case[] => {
  const id = (rule: string) => `${cloud}.network.${rule}`
  return [
    bad(id('open-admin-port'), `${name}: SSH`, type, values('0.0.0.0/0', 22, 22, 'tcp')),
    bad(id('open-admin-port'), `${name}: a range with RDP`, type, values('0.0.0.0/0', 3000, 4000, 'tcp')),
    bad(id('open-admin-port'), `${name}: half of the internet`, type, values('128.0.0.0/1', 22, 22, 'tcp')),
    fine(id('open-admin-port'), `${name}: an office`, type, values('198.51.100.0/24', 22, 22, 'tcp')),
    fine(id('open-admin-port'), `${name}: a private network`, type, values('10.0.0.0/8', 22, 22, 'tcp')),
    fine(id('open-admin-port'), `${name}: web`, type, values('0.0.0.0/0', 443, 443, 'tcp')),
    fine(id('open-admin-port'), `${name}: port 22 of UDP`, type, values('0.0.0.0/0', 22, 22, 'udp')),
    bad(id('open-database-port'), `${name}: PostgreSQL`, type, values('0.0.0.0/0', 5432, 5432, 'tcp')),
    fine(id('open-database-port'), `${name}: web`, type, values('0.0.0.0/0', 80, 80, 'tcp')),
    bad(id('open-all-ports'), `${name}: all`, type, values('0.0.0.0/0', 0, 65_535, 'tcp')),
    fine(id('open-all-ports'), `${name}: all from inside`, type, values('10.0.0.0/8', 0, 65_535, 'tcp')),
    fine(id('open-admin-port'), `${name}: all, which is reported as such`, type, values('0.0.0.0/0', 0, 65_535, 'tcp')),
    bad(id('open-other-port'), `${name}: 8080`, type, values('0.0.0.0/0', 8080, 8080, 'tcp')),
    fine(id('open-other-port'), `${name}: web`, type, values('0.0.0.0/0', 443, 443, 'tcp')),
  ]
}

const others: Case[] = [
  bad('aws.network.open-all-ports', 'every protocol', 'aws_default_security_group', {
    ingress: [{ from_port: 0, to_port: 0, protocol: '-1', cidr_blocks: [], ipv6_cidr_blocks: ['::/0'] }],
  }),
  bad('aws.network.open-all-ports', 'every protocol, newest form', 'aws_vpc_security_group_ingress_rule', {
    ip_protocol: '-1',
    cidr_ipv6: '::/0',
  }),
  fine('aws.network.open-all-ports', 'the group itself', 'aws_security_group', {
    ingress: [{ from_port: 0, to_port: 0, protocol: '-1', self: true }],
  }),
  fine('aws.network.open-all-ports', 'going out', 'aws_security_group_rule', {
    type: 'egress',
    from_port: 0,
    to_port: 0,
    protocol: '-1',
    cidr_blocks: ['0.0.0.0/0'],
  }),
  fine(
    'aws.network.open-admin-port',
    'sources known later',
    'aws_security_group_rule',
    { type: 'ingress', from_port: 22, to_port: 22, protocol: 'tcp' },
    { after_unknown: { cidr_blocks: true } },
  ),
  fine(
    'aws.network.open-admin-port',
    'ports known later',
    'aws_security_group_rule',
    { type: 'ingress', protocol: 'tcp', cidr_blocks: ['0.0.0.0/0'] },
    { after_unknown: { from_port: true, to_port: true } },
  ),
  bad('aws.network.open-admin-port', 'Lightsail', 'aws_lightsail_instance_public_ports', {
    port_info: [{ from_port: 22, to_port: 22, protocol: 'tcp', cidrs: ['0.0.0.0/0'] }],
  }),
  bad('azure.network.open-all-ports', 'the words', AZURE_RULE, {
    direction: 'inbound',
    access: 'allow',
    protocol: '*',
    source_address_prefix: 'Internet',
    destination_port_range: '*',
  }),
  bad('azure.network.open-admin-port', 'any protocol, one port', AZURE_RULE, azureRule('*', 3389, 3389, '*')),
  fine('azure.network.open-admin-port', 'denied', AZURE_RULE, { ...azureRule('*', 22, 22, 'Tcp'), access: 'Deny' }),
  fine(
    'azure.network.open-admin-port',
    'a service of the provider',
    AZURE_RULE,
    azureRule('AzureLoadBalancer', 22, 22, 'Tcp'),
  ),
  bad('gcp.network.open-all-ports', 'no ports named', 'google_compute_firewall', {
    source_ranges: ['::/0'],
    allow: [{ protocol: 'all', ports: [] }],
  }),
  fine('gcp.network.open-all-ports', 'ICMP', 'google_compute_firewall', {
    source_ranges: ['0.0.0.0/0'],
    allow: [{ protocol: 'icmp' }],
  }),
  fine('gcp.network.open-all-ports', 'switched off', 'google_compute_firewall', {
    disabled: true,
    source_ranges: ['0.0.0.0/0'],
    allow: [{ protocol: 'all' }],
  }),
  fine(
    'gcp.network.open-all-ports',
    'ports known later',
    'google_compute_firewall',
    { source_ranges: ['0.0.0.0/0'], allow: [{ protocol: 'tcp' }] },
    { after_unknown: { allow: [{ ports: [true] }] } },
  ),
  bad('oci.network.open-all-ports', 'all protocols', 'oci_core_default_security_list', {
    ingress_security_rules: [{ protocol: 'all', source: '0.0.0.0/0' }],
  }),
  bad('oci.network.open-all-ports', 'TCP without options', 'oci_core_security_list', {
    ingress_security_rules: [{ protocol: '6', source: '0.0.0.0/0', tcp_options: [] }],
  }),
  bad(
    'oci.network.open-admin-port',
    'a protocol and a source port that are known after the apply',
    'oci_core_security_list',
    { ingress_security_rules: [{ source: '0.0.0.0/0', tcp_options: [{ min: 22, max: 22, source_port_range: [{}] }] }] },
    {
      after_unknown: {
        ingress_security_rules: [{ protocol: true, tcp_options: [{ source_port_range: [{ min: true }] }] }],
      },
    },
  ),
  fine(
    'oci.network.open-all-ports',
    'ports that are known after the apply',
    'oci_core_security_list',
    { ingress_security_rules: [{ source: '0.0.0.0/0', protocol: '6', tcp_options: [{}] }] },
    { after_unknown: { ingress_security_rules: [{ tcp_options: [{ min: true, max: true }] }] } },
  ),
  fine('oci.network.open-all-ports', 'ICMP', 'oci_core_security_list', {
    ingress_security_rules: [{ protocol: '1', source: '0.0.0.0/0' }],
  }),
]

export const networkCases: Case[] = [
  ...aws.flatMap((form) => ofForm('aws', form)),
  ...azure.flatMap((form) => ofForm('azure', form)),
  ...gcp.flatMap((form) => ofForm('gcp', form)),
  ...oci.flatMap((form) => ofForm('oci', form)),
  ...others,
]
