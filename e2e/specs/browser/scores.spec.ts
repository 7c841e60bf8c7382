import { expect } from '../../drivers/browser-mode.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { DEMO_RUN, demoTest } from '../../fixtures/browser-homes.ts';
import { goTo, trajectoryRows } from '../../fixtures/page.ts';

demoTest.use({ contextOptions: { reducedMotion: 'reduce' } });

// Bug: a rating does not reach the store, the list or the reward; what rules said is not to be seen; filters miss what they name.
demoTest('a trajectory is rated by keys and stars, its scores are explained, and the list is filtered by both', async ({ page, mode }) => {
  const client = await mode.client();
  const run = (await client.runs.list()).items.find(({ name }) => name === DEMO_RUN);
  if (!run) throw new Error('The demo run is gone.');
  for await (const event of await client.scores.rescore({ runId: run.id, scoring: ['long=length:1..', 'exact', 'rating*2'] })) void event;

  await goTo(page, 'Library');
  await trajectoryRows(page).first().click();
  const view = page.getByRole('region', { name: 'Trajectory', exact: true });
  const scores = view.getByRole('region', { name: 'Scores' });
  await expect(view.getByRole('button', { name: '4 stars' })).toBeVisible();
  await page.keyboard.press('s');
  await expect(scores.getByRole('row', { name: /^exact – × 1 The row has no answer/ })).toBeVisible();
  await expect(scores.getByRole('row', { name: /^rating rating\*2 – × 2 Nobody has rated it/ })).toBeVisible();
  await expect(scores.getByRole('row', { name: /^Reward 1/ })).toBeVisible();

  await page.keyboard.press('4');
  await expect(view.getByRole('button', { name: '4 stars' })).toHaveAttribute('aria-pressed', 'true');
  await expect(scores.getByRole('row', { name: /^Rating by a person 0\.75 × 2/ })).toBeVisible();
  await expect(scores.getByRole('row', { name: /^Reward 2\.5/ })).toBeVisible();
  await expect(trajectoryRows(page).first()).toContainText('4 stars');
  await expect(trajectoryRows(page).first()).toContainText('2.5');
  expect((await client.runs.get({ id: run.id })).rewards?.count).toBe((await client.trajectories.counts({ filter: { minReward: 0 } })).matching);

  await expectAccessible(page, 'scores of a trajectory');

  const filters = page.getByRole('region', { name: 'Filters' });
  await filters.getByRole('checkbox', { name: /^4 stars/ }).click();
  await expect(trajectoryRows(page)).toHaveCount(1);
  await filters.getByRole('checkbox', { name: /^4 stars/ }).click();
  await expect(filters.getByRole('checkbox', { name: /^4 stars/ })).not.toBeChecked();
  await filters.getByLabel('Most reward').fill('2');
  await filters.getByLabel('Most reward').press('Enter');
  await expect(page).toHaveURL(/reward=\.\.2/);
  await expect(trajectoryRows(page).filter({ hasText: '4 stars' })).toHaveCount(0);
  await filters.getByLabel('Most reward').fill('');
  await filters.getByLabel('Most reward').press('Enter');

  await trajectoryRows(page).filter({ hasText: '4 stars' }).click();
  await expect(view.getByRole('button', { name: '4 stars' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('0');
  await expect(view.getByRole('button', { name: '4 stars' })).toHaveAttribute('aria-pressed', 'false');
  await view.getByRole('button', { name: '2 stars' }).click();
  await expect(trajectoryRows(page).first()).toContainText('2 stars');
  await view.getByRole('button', { name: '2 stars' }).click();
  await expect(page.getByText('2 stars', { exact: true })).toHaveCount(0);
  // the number keys belong to a field that is typed in
  await filters.getByLabel('Least reward').press('3');
  await expect(view.getByRole('button', { name: '3 stars' })).toHaveAttribute('aria-pressed', 'false');
});

// Bug: the best rollouts cannot be brought up, those without a reward come first, or the order is gone after a reload.
demoTest('the list is sorted by reward, from the keyboard too, and stays so', async ({ page, mode }) => {
  const client = await mode.client();
  const run = (await client.runs.list()).items.find(({ name }) => name === DEMO_RUN);
  if (!run) throw new Error('The demo run is gone.');
  for await (const event of await client.scores.rescore({ runId: run.id, scoring: ['turns', 'exact'] })) void event;
  const wanted = async (sort: 'newest' | 'reward_high' | 'reward_low'): Promise<string[]> => (await client.trajectories.list({ filter: {}, sort })).items.map((i) => `trajectory-${i.id}`);
  const firstOnes = (): Promise<string[]> => trajectoryRows(page).evaluateAll((rows) => rows.slice(0, 5).map((r) => r.id));

  await goTo(page, 'Library');
  const sort = page.getByRole('button', { name: /^Sort: / });
  await expect(sort).toHaveAccessibleName('Sort: Newest first');
  await sort.click();
  await page.getByRole('menuitemradio', { name: 'Highest reward first' }).click();
  await expect(sort).toHaveAccessibleName('Sort: Highest reward first');
  const highest = await wanted('reward_high');
  await expect.poll(firstOnes).toEqual(highest.slice(0, 5));
  expect(highest).not.toEqual(await wanted('newest'));
  await expectAccessible(page, 'list by reward');

  await sort.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitemradio', { name: 'Highest reward first' })).toBeChecked();
  await expect.poll(() => page.getByRole('menu').evaluate((element) => element.contains(document.activeElement))).toBe(true);
  await page.keyboard.press('End');
  await expect(page.getByRole('menuitemradio', { name: 'Lowest reward first' })).toBeFocused();
  await page.keyboard.press('Enter');
  const lowest = await wanted('reward_low');
  await expect(trajectoryRows(page).first()).toHaveId(lowest[0]!);

  await page.reload();
  await expect(sort).toHaveAccessibleName('Sort: Lowest reward first');
  await expect(trajectoryRows(page).first()).toHaveId(lowest[0]!);
  await page.getByRole('listbox', { name: 'Trajectories' }).focus();
  await page.keyboard.press('j');
  await expect(page).toHaveURL(new RegExp(lowest[0]!.replace('trajectory-', '')));
});
