// Pinocchio's own CasADi route: rnea on casadi::SX, written as C by CasADi (pinocchio_rnea.c).
// Reads from stdin, for each joint: its parent, its axis (0, 1, 2), the placement's rotation by rows
// and translation, then mass, centre of mass and inertia (by rows) of its body.
// Compiled by benchmarks/exported_code.py with the headers that come with `pin` and `casadi`.
#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <iostream>

template <int Rows, int Columns>
Eigen::Matrix<double, Rows, Columns> read_matrix()
{
    Eigen::Matrix<double, Rows, Columns> found;
    for (int row = 0; row < Rows; row++)
        for (int column = 0; column < Columns; column++)
            std::cin >> found(row, column);
    return found;
}

pinocchio::Model read_model()
{
    pinocchio::Model model;
    int parent, axis;
    while (std::cin >> parent >> axis) {
        const Eigen::Matrix3d rotation = read_matrix<3, 3>();
        const pinocchio::SE3 place(rotation, read_matrix<3, 1>());
        const std::string name = "joint" + std::to_string(model.njoints);
        const pinocchio::JointIndex joint =
            axis == 0   ? model.addJoint(parent, pinocchio::JointModelRX(), place, name)
            : axis == 1 ? model.addJoint(parent, pinocchio::JointModelRY(), place, name)
                        : model.addJoint(parent, pinocchio::JointModelRZ(), place, name);
        const double mass = read_matrix<1, 1>()(0);
        const Eigen::Vector3d center = read_matrix<3, 1>();
        const pinocchio::Inertia body(mass, center, read_matrix<3, 3>());
        model.appendBodyToJoint(joint, body, pinocchio::SE3::Identity());
    }
    return model;
}

int main()
{
    typedef casadi::SX Scalar;
    typedef Eigen::Matrix<Scalar, Eigen::Dynamic, 1> Vector;
    const pinocchio::ModelTpl<Scalar> model = read_model().cast<Scalar>();
    pinocchio::DataTpl<Scalar> data(model);
    Vector state[3];
    std::vector<Scalar> inputs;
    for (int k = 0; k < 3; k++) {
        inputs.push_back(Scalar::sym("x" + std::to_string(k), model.nv));
        state[k].resize(model.nv);
        pinocchio::casadi::copy(inputs[k], state[k]);
    }
    const Vector tau = pinocchio::rnea(model, data, state[0], state[1], state[2]);
    Scalar output(model.nv, 1);
    for (int k = 0; k < model.nv; k++)
        output(k) = tau[k];
    casadi::Function("pinocchio_rnea", inputs, {output}).generate("pinocchio_rnea.c");
    return 0;
}
