set encoding utf8
if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {
  set terminal pngcairo size 515,982 font 'DejaVu Sans,10'
} else {
  set terminal png truecolor size 515,982
}
set output 'out.png'
set multiplot
set border 3 lc rgb '#606060'
set tics nomirror out textcolor '#303030'
set grid back lt 1 dt solid lc rgb '#cccccc' lw 1
unset key
set lmargin at screen 0.1748
set rmargin at screen 0.9515
set tmargin at screen 0.9409
set bmargin at screen 0.6864
unset logscale x
unset logscale y
set format x ''
set xtics autofreq
set format y '%g'
set ytics autofreq
set xlabel ''
set ylabel 'training loss'
set xrange [0:1]
set yrange [0.42:2.58]
$p0c0 << EOD
0 2 2.25 2.5
1 1 1.5 2
EOD
$p0c1 << EOD
0 2.5 2.5 2.5
1 0.5 0.5 0.5
EOD
plot $p0c0 using 1:2:4 notitle with filledcurves fc rgb '#0072B2' fs transparent solid 0.18 noborder, $p0c0 using 1:3 notitle with linespoints lc rgb '#0072B2' dt solid lw 2 pt 7 ps 0.5, $p0c1 using 1:3 notitle with linespoints lc rgb '#D55E00' dt (14,5) lw 2 pt 7 ps 0.5, NaN notitle
unset label
set lmargin at screen 0.1748
set rmargin at screen 0.9515
set tmargin at screen 0.6619
set bmargin at screen 0.4073
unset logscale x
unset logscale y
set format x ''
set xtics autofreq
set format y '%g'
set ytics autofreq
set xlabel ''
set ylabel 'test accuracy (%)'
set xrange [0:1]
set yrange [0:1]
set label 1 'not measured' at graph 0.5,0.5 center textcolor '#808080'
plot NaN notitle
unset label
set lmargin at screen 0.1748
set rmargin at screen 0.9515
set tmargin at screen 0.3829
set bmargin at screen 0.1283
unset logscale x
set logscale y 10
set format x '%g'
set xtics autofreq
set format y '%g'
set ytics (1, 2)
set xlabel 'epoch'
set ylabel 'consensus distance'
set xrange [0:1]
set yrange [0.90909091:2.75]
$p2c0 << EOD
0 2 2.25 2.5
1 1 1.5 2
EOD
set label 10 '0 throughout: complete, allreduce' at graph 0.03,0.06 left noenhanced font ',8' textcolor '#606060'
plot $p2c0 using 1:2:4 notitle with filledcurves fc rgb '#0072B2' fs transparent solid 0.18 noborder, $p2c0 using 1:3 notitle with linespoints lc rgb '#0072B2' dt solid lw 2 pt 7 ps 0.5, NaN notitle
unset label
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
unset border
unset tics
unset grid
unset logscale x
unset logscale y
set xlabel ''
set ylabel ''
set xrange [0:1]
set yrange [0:1]
set label 'lenet5 on synthetic' at screen 0.5,0.9735 center noenhanced font ',13'
set arrow from screen 0.3631,0.0499 to screen 0.4485,0.0499 nohead lc rgb '#0072B2' dt solid lw 2.5
set label 'ring, dpsgd (2 seeds)' at screen 0.4680,0.0499 left noenhanced
set arrow from screen 0.3631,0.0275 to screen 0.4485,0.0275 nohead lc rgb '#D55E00' dt (14,5) lw 2.5
set label 'complete, allreduce' at screen 0.4680,0.0275 left noenhanced
plot NaN notitle
unset multiplot
unset output
