# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declarations of the experiments that come with the lab. They run in test/integration/lab_test.rb and
# the files lab_web_test.rb and lab_applications_test.rb beside it.
class LabExperimentsTest < PeltonTest
  QUICK = %w[crossover memcached transfer waiting].freeze # they need no other program, and run without being named

  def experiments = @experiments ||= Pelton::Lab.shipped.to_h { |name, path| [name, Pelton::Lab.load(path).first] }

  def races = experiments.each_value.flat_map(&:races)

  def test_each_file_declares_the_experiment_of_its_name
    assert_equal experiments.keys, experiments.each_value.map(&:name)
    assert_equal QUICK, experiments.reject { |_, experiment| experiment.only_when_named? }.keys
  end

  def test_the_numbered_rows_of_the_targets
    rows =
      experiments.transform_values { |experiment| experiment.races.flat_map(&:targets).filter_map(&:row).uniq.sort }
        .reject { |_, rows| rows.empty? }

    assert_equal({"broker" => [14, 15, 16], "connections" => [21, 22, 29], "eventmachine" => [25],
      "hello" => [11, 12, 26, 27, 28], "memcached" => [1, 2, 3, 4, 5, 6, 10],
      "models" => [17, 18, 19], "slow" => [13], "transfer" => [7, 8, 9], "waiting" => [23]}, rows)
  end

  def test_each_target_is_of_contenders_that_take_part_in_every_round
    races.each do |race|
      race.targets.each do |target|
        contender = race.find(target.contender)

        assert_equal race.rounds, contender.rounds(race.rounds), "#{race.name}: #{contender.name}"
        assert target.unit || target.to || race.reference, "#{race.name}: #{target.what} is compared with nothing"
        [*target.to].each { |name| assert race.find(name) }
      end
    end
  end

  # "(18 times its requests/s)", "(0.7 of its requests/s)".
  def test_so_many_times_the_requests_is_the_inverse_of_the_time
    speeds = races.flat_map(&:targets).filter_map do |target|
      (speed = target.what[%r{\(([\d.]+) (?:times|of its requests)}, 1]) && [target, speed.to_f]
    end

    assert_operator speeds.size, :>, 40
    speeds.each { |target, speed| assert_in_delta 1, target.limit * speed, 0.01, target.what }
  end

  def test_the_contenders_of_a_race_have_names_of_their_own
    races.each { |race| assert_equal race.contenders.map(&:name).uniq, race.contenders.map(&:name), race.name }
  end

  def test_the_articles_results
    ratios = experiments.values_at("memcached", "transfer", "slow").flat_map(&:races).filter_map(&:past).map do |past|
      past.ratio(past.rows.last).round(2)
    end

    assert_equal [1.92, 6.9, 1.0, 0.2, 1.0], ratios
  end

  def test_a_long_line_bounds_everybody
    race = experiments["crossover"].find("get")

    assert(race.contenders.all? { |contender| contender.size(race.size(:same), latency: 50) < 10 })
  end

  def test_the_server_counts_each_operation
    counts = experiments["memcached"].find("set, get, delete").expected_counts.call(7)

    assert_equal({cmd_set: 7, get_hits: 7, get_misses: 0, delete_hits: 7, delete_misses: 0}, counts)
  end
end
