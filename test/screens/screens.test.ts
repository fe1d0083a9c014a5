// The pictures of the README and of docs. `npm run docs:screens` draws them anew.
import { beforeAll, expect, it } from 'vitest';
import { pictureNames, takePictures } from './story.js';
import { svgOf } from './svg.js';
import { pictureOfTheme, themePictures } from './themes.js';

let pictures: Awaited<ReturnType<typeof takePictures>>;
beforeAll(async () => {
  pictures = await takePictures();
});

it.each(pictureNames)('docs/screens/%s.svg is what the built program shows', async (name) => {
  const picture = pictures.get(name);
  if (!picture) throw new Error(`no picture of ${name} was taken`);
  await expect(svgOf(picture)).toMatchFileSnapshot(`../../docs/screens/${name}.svg`);
});

it.each(themePictures)('docs/screens/theme-%s.svg is the footer in this theme', async (name) => {
  const svg = svgOf(await pictureOfTheme(name));
  await expect(svg).toMatchFileSnapshot(`../../docs/screens/theme-${name}.svg`);
});
