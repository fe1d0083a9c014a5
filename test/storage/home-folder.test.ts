import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { homeFolder } from '../../src/storage/state-folder.js';

it.each([
  { given: '/home/u', home: '/home/u' },
  { given: undefined, home: userInfo().homedir },
  { given: '', home: userInfo().homedir },
  { given: 'here', home: userInfo().homedir }, // files of ours would come into whatever folder we are started in
])('with HOME=$given is $home', ({ given, home }) => expect(homeFolder({ HOME: given })).toBe(home));
