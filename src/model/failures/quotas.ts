/** Failures of qtrees and quota rules. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const quotas = {
  qtreeNameRequired: invalid('name', 'Field "name" is required: a qtree has a name.', 'Give the qtree a name.', {
    code: '5242953',
  }),
  defaultQtreeRename: invalid('name', 'The default qtree cannot be named.', 'Make another qtree.', {
    code: '5242958',
  }),
  defaultQtreeQos: invalid(
    'qos_policy',
    'The default qtree uses the QoS policy of the volume. Set the policy of the volume.',
    'Set the QoS policy of the volume.',
  ),
  qtreeNotFound: notFound('qtree', 'id'),
  defaultQtreeDelete: inUse(
    'id',
    'The default qtree is deleted with its volume only.',
    'Delete the volume, or other qtrees.',
    {
      code: '5242894',
    },
  ),
  qtreeLimitReached: invalid(
    undefined,
    'The volume has {max} qtrees, which is the limit.',
    'Delete qtrees of the volume first.',
    { code: '5242886' },
  ),
  qtreeVolumeUnknown: invalid('volume.uuid', 'The SVM has no such volume.', 'Name a volume of the SVM.', {
    code: '917927',
    errno: errno.objectNotFound,
  }),
  qtreeNameTaken: duplicate('A qtree named "{name}"', 'name'),
  permissionsMalformed: badValue(
    'unix_permissions',
    'it takes the digits of an octal number, such as 755.',
    'Give octal digits, such as 755.',
  ),
  ownerIdOutOfBounds: invalid('{field}', 'It takes a number in 0..{max}.', 'Give a number within the bounds.', {
    code: '5242967',
  }),
  quotaRuleNotFound: notFound('quota rule', 'uuid'),
  treeRuleTarget: invalid(
    'qtree.name',
    'A tree rule needs qtree.name, and takes no users and no group.',
    'Give qtree.name, and neither users nor group.',
    { code: '5308564' },
  ),
  userRuleTarget: invalid('users', 'A user rule needs users, and takes no group.', 'Give users, and no group.', {
    code: '5308562',
  }),
  userRuleForSeveral: invalid(
    'users',
    'A quota rule applies to one user. Create a rule for each user.',
    'Create a rule for each user.',
  ),
  userRuleNameAndId: invalid('users', 'A user has either a name or an id.', 'Give the name or the id of the user.', {
    code: '5308565',
  }),
  groupRuleTarget: invalid(
    'group.name',
    'A group rule needs a group, and takes no users.',
    'Give group, and no users.',
    { code: '5308563' },
  ),
  groupRuleNameAndId: invalid(
    'group.name',
    'A group has either a name or an id.',
    'Give the name or the id of the group.',
    { code: '5308566' },
  ),
  qtreeUnknown: invalid('qtree.name', 'There is no qtree "{name}".', 'Name a qtree of the volume.', {
    code: '262185',
    errno: errno.objectNotFound,
  }),
  userMappingNeedless: badValue('user_mapping', 'it is for user rules.', 'Leave user_mapping out.'),
  quotaLimitTooLarge: invalid('{field}', 'It is above the maximum of {max}.', 'Choose a smaller limit.', {
    code: '5308573',
  }),
  softLimitAboveHard: invalid(
    '{unit}.soft_limit',
    'The soft limit is above the hard limit.',
    'Choose a soft limit that is not above the hard one.',
    { code: '5308575' },
  ),
  quotaRuleTaken: duplicate('A quota rule for this target', '{field}'),
  quotaRuleLimitReached: invalid(
    undefined,
    'The volume has {max} quota rules, which is the limit.',
    'Delete quota rules of the volume first.',
  ),
} as const
