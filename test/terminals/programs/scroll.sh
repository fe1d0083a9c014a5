# shellcheck shell=sh
# 100 lines: some in a rush, some one at a time, so that the footer is painted in between.
n=1
while [ $n -le 100 ]; do
  printf 'L%03d scrolled\n' $n
  [ $((n % 10)) -ne 0 ] || sleep 0.15
  [ $n -le 90 ] || sleep 0.1
  n=$((n + 1))
done
echo all printed
sleep 600
