# app/models/issue.rb
# frozen_string_literal: true

class Issue < Sequel::Model
  STATES = %w[reported fixed].freeze

  many_to_one :user
  one_to_many :comments, order: :id
  one_to_many :attachments
  add_association_dependencies comments: :delete, attachments: :destroy

  # Attributes that forms may set.
  set_allowed_columns :title, :text, :state

  dataset_module do
    # Issues that have all the words in their title or text, newest first.
    def search(text)
      patterns = text.split.first(5).map { |word| "%#{escape_like(word)}%" }
      newest = reverse(:id)
      patterns.empty? ? newest : newest.grep([:title, :text], patterns, all_patterns: true, case_insensitive: true)
    end
  end

  def before_validation
    self.state ||= "reported"
    super
  end

  def validate
    super
    validates_presence [:title, :user_id]
    validates_max_length 100, :title, allow_nil: true
    validates_max_length 10_000, :text, allow_nil: true
    validates_includes STATES, :state
  end
end
