import { describe, expect, it } from 'vitest'
import { isLoopbackAddress, maskSecrets, parseWebhookAddress, secretsOf, shownHost } from './webhook-address.ts'

describe('address of a webhook', () => {
  it.each([
    'https://hooks.example.com/services/T0/B0/x',
    'http://127.0.0.1:9/x',
    'http://localhost/x',
    'http://[::1]:80/x',
    'http://0x7f.1/x'
  ])('takes %s', (text) => {
    expect(parseWebhookAddress(` ${text}\n`).url.href).toContain('/x')
  })

  it.each([
    'http://hooks.example.com/x',
    'http://169.254.169.254/latest',
    'http://127.0.0.1.example.com/x',
    'http://localhost.example.com/',
    'http://2130706434.example/',
    'https://user:secret-pw@example.com/x',
    'ftp://127.0.0.1/x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'hooks.example.com/x',
    ''
  ])('refuses %s and repeats nothing of it', (text) => {
    const refuse = (): unknown => parseWebhookAddress(text)
    expect(refuse).toThrow(expect.objectContaining({ code: 'INVALID_INPUT', kind: 'user' }) as Error)
    expect(refuse).not.toThrow(/secret-pw|etc\/passwd|169\.254/)
  })

  it('reads a signing secret behind the #, which is no part of what is sent', () => {
    const address = parseWebhookAddress('https://oapi.example.com/robot/send?access_token=abc123#SEC%2Bx')
    expect(address).toMatchObject({ signingSecret: 'SEC+x' })
    expect(address.url.href).toBe('https://oapi.example.com/robot/send?access_token=abc123')
    expect(parseWebhookAddress('https://a.example/#%zz').signingSecret).toBe('%zz')
    expect(parseWebhookAddress('https://a.example/').signingSecret).toBeNull()
  })

  it('shows its host and port, and masks every piece that could be a token', () => {
    const address = parseWebhookAddress('https://h.example:8443/services/T024BE7LD/XyZ123abc?key=693a91f6-7xxx#SECmy')
    expect(shownHost(address)).toBe('h.example:8443')
    const said = 'no_team T024BE7LD, key 693a91f6-7xxx, path /services/T024BE7LD/XyZ123abc, services, XyZ123abc'
    expect(maskSecrets(said, address)).toBe(
      'no_team •••, key •••, path •••, services, •••'.replace('path •••', 'path /services/•••/•••')
    )
    expect(secretsOf(address)).not.toContain('services')
  })

  it('knows addresses of this machine from others', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true)
    expect(['128.0.0.1', '10.0.0.1', '::2', 'fe80::1', '127.0.0.1.example'].some(isLoopbackAddress)).toBe(false)
  })
})
