// Which names and numbers of a user's message are evidence.
import { describe, expect, it } from 'vitest';
import { identifiersIn } from '../../src/core/conversation/message-evidence.js';

describe('names and numbers', () => {
  it.each([
    ['`a b`, maxRetries, HttpClient and http_client', ['a b', 'maxRetries', 'HttpClient', 'http_client']],
    ['call foo.bar_baz() and run(), not running', ['foo.bar_baz', 'run']],
    [
      'in src/core/some_file.ts, ~/.config/app_name/x.json and ./a/b',
      ['src/core/some_file.ts', '~/.config/app_name/x.json', './a/b'],
    ],
    ['see https://example.com/a/b_c?id=12345&x=fooBar.', ['https://example.com/a/b_c?id=12345&x=fooBar']],
    ['pass --dry-run to it', ['--dry-run']],
    ['ABC-123 and CVE-2026-1234, on 2026-11-21', ['2026-11-21', 'ABC-123', 'CVE-2026-1234']],
    ['at 192.168.1.1 with v1.24.3', ['192.168.1.1', 'v1.24.3']],
    [
      '4f0c2d9a and 0f3a2b1c-aaaa-4bbb-8ccc-1234567890ab',
      ['0f3a2b1c-aaaa-4bbb-8ccc-1234567890ab', '4f0c2d9a'],
    ],
    ['250 ms, 3.5GB, 15 %, 1,000 users, $1200 and 12 of them', ['250 ms', '3.5GB', '15 %']],
    ['必须使用maxRetries参数,端口8080', ['maxRetries']],
  ])('in %j', (message, names) => {
    expect(identifiersIn(message)).toEqual(names);
  });

  it('are none in what an agent shows of pasted pictures and texts', () => {
    expect(identifiersIn('[Image #1] make it look like #12')).toEqual(['#12']);
    expect(identifiersIn('[Pasted text #1 +11 lines] mend it')).toEqual([]);
  });

  it('leave out bare numbers, times and what programs have printed', () => {
    const message = [
      'Since 1200 runs at 12:30, line 366 of `a.ts` waits 30 s on port 8443, see #120:',
      '2026-02-15T15:23:26.578459 |DEBUG| session_id=4f0c2d9a duration_ms=151',
      '{"tool_use_id":"toolu_01","is_error":false}',
      'commit fe1c1c3933f95e99f16618a1efa241abdd37b78d ',
      '--- FAIL: TestSome_Thing (3.40s)',
      'hooks.go:209: someOutput',
    ].join('\n');
    expect(identifiersIn(message)).toEqual(['a.ts', '#120', '30 s', '8443']);
  });

  it.each([
    'use JavaScript or TypeScript on GitHub',
    'this and/or that, e.g. 1.5 of 10',
    'the kebab-case-name of an e-mail to me@example.com',
  ])('are not in %j', (message) => {
    expect(identifiersIn(message)).toEqual([]);
  });

  it('are found in a message that is made to be costly', () => {
    const costly = [
      'a.'.repeat(4_000),
      'a/'.repeat(4_000),
      'aB'.repeat(4_000),
      '1,'.repeat(4_000),
      '`'.repeat(8_000),
    ];
    for (const message of costly) expect(identifiersIn(message).length).toBeLessThan(8_000);
  });
});
